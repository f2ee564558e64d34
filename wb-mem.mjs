import { readFileSync } from 'node:fs';

const m = () => Number(/^Pss:\s+(\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))[1]) / 1024;
const a = () => Number(/^Pss_Anon:\s+(\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))[1]) / 1024;
const r = (t) =>
  console.log(
    t.padEnd(30),
    'pss',
    m().toFixed(1),
    'anon',
    a().toFixed(1),
    'heap',
    (process.memoryUsage().heapUsed / 1048576).toFixed(1),
  );
r('bare');
for (const x of process.argv.slice(2)) {
  await import(x);
  r(x);
}
