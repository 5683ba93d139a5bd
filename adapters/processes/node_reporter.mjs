// A reporter of node's own test runner. A test is named by its file and the names of the tests around it.
import { createRequire } from 'node:module';
import { inspect } from 'node:util';

const { report } = createRequire(import.meta.url)('./junit.cjs');

export default async function* node(source) {
  const junit = report('node');
  const names = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      names.splice(data.nesting, Infinity, data.name);
    } else if (type === 'test:pass' || type === 'test:fail') {
      names.splice(data.nesting, Infinity, data.name);
      // A suite that fails only for a test in it is not another failure.
      const suite = data.details?.type === 'suite';
      const error = data.details?.error;
      if (suite && (type === 'test:pass' || error?.failureType === 'subtestsFailed')) continue;
      const bad = type === 'test:fail' && data.todo === undefined;
      const outcome = bad ? 'failure' : data.skip !== undefined || data.todo !== undefined ? 'skipped' : '';
      junit.add(data.file, names.join(' > '), outcome, bad ? inspect(error?.cause ?? error) : '');
    }
  }
  junit.end();
}
