// For the target's own Node: a report of this process, as JUnit XML in $SWATHE_JUNIT. Of ours, it is only copied.
const fs = require('node:fs');
const path = require('node:path');

const plain = (text) =>
  String(text ?? '')
    // eslint-disable-next-line no-control-regex
    .replace(/\x1b\[[0-9;]*m/g, '')
    .replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD]/g, '?')
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

exports.report = (runner) => {
  const name = `${runner}-${process.pid}-${process.hrtime.bigint()}.xml`;
  const file = fs.openSync(path.join(process.env.SWATHE_JUNIT, name), 'w');
  fs.writeSync(file, '<testsuite>\n');
  return {
    add(where, test, outcome, message) {
      const place = where ? path.relative(process.cwd(), where) : '';
      const inner = outcome && `<${outcome} message="">${plain(message)}</${outcome}>`;
      fs.writeSync(file, `<testcase classname="${plain(place)}" name="${plain(test)}">${inner}</testcase>\n`);
    },
    end: () => fs.writeSync(file, '</testsuite>\n'),
  };
};
