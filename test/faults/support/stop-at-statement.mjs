// For NODE_OPTIONS of an instance under test. It stops itself, as by SIGSTOP from outside, before the next statement that
// contains the text in the file named by STOP_FILE; the file is deleted first, so that it stops once.
import { readFileSync, rmSync } from 'node:fs';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { Socket } from 'node:net';

const file = process.env.STOP_FILE;
const texts = new WeakMap();

function stopBefore(sql) {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return;
  }
  if (text === '' || !sql.includes(text)) return;
  rmSync(file);
  process.kill(process.pid, 'SIGSTOP');
}

const prepare = Reflect.get(DatabaseSync.prototype, 'prepare');
DatabaseSync.prototype.prepare = function prepareNoted(sql, ...rest) {
  const statement = prepare.call(this, sql, ...rest);
  texts.set(statement, sql);
  return statement;
};
for (const name of ['all', 'run', 'get']) {
  const original = StatementSync.prototype[name];
  StatementSync.prototype[name] = function stoppable(...values) {
    stopBefore(texts.get(this) ?? '');
    return original.apply(this, values);
  };
}

const write = Reflect.get(Socket.prototype, 'write');
Socket.prototype.write = function stoppableWrite(bytes, ...rest) {
  if (Buffer.isBuffer(bytes) && bytes.length < 200_000) stopBefore(bytes.toString('latin1'));
  return write.call(this, bytes, ...rest);
};
