// A reporter of jest. A file that could not be run is a test of its own, named as pytest's is.
const { report } = require('./junit.cjs');

const OUTCOMES = { passed: '', failed: 'failure', pending: 'skipped', todo: 'skipped', disabled: 'skipped' };

module.exports = class {
  onRunComplete(_contexts, { testResults }) {
    const junit = report('jest');
    for (const file of testResults) {
      for (const test of file.testResults) {
        const name = [...test.ancestorTitles, test.title].join(' > ');
        junit.add(file.testFilePath, name, OUTCOMES[test.status] ?? 'skipped', test.failureMessages.join('\n'));
      }
      if (file.testExecError) junit.add(file.testFilePath, '(collection)', 'error', file.failureMessage);
    }
    junit.end();
  }
};
