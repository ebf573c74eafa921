import { createApp } from './app.ts';
import { openMysql } from './mysql-db.ts';
import { keepNoRecord, keepRecord } from './record.ts';
import { SecondFactors } from './second-factors.ts';
import { openSqlite } from './sqlite-db.ts';

// The variables of the service that matter here. What it leaves out, and the benchmark does not drive: rate
// limits (switched off on both sides), the session check, the deletion of what has expired.
const { DATABASE_URL: url = '', PORT = '0', DATABASE_POOL_SIZE = '20', LOG_LEVEL = 'warn' } = process.env;
const { BASELINE_RECORD = 'on', JWT_KEYS_FILE = '' } = process.env;

const db = url.startsWith('sqlite:')
  ? openSqlite(url.slice('sqlite:'.length))
  : await openMysql(url, Number(DATABASE_POOL_SIZE));
const record = BASELINE_RECORD === 'off' ? keepNoRecord(db) : keepRecord(db);
const app = createApp(db, record, new SecondFactors(JWT_KEYS_FILE), {
  // CODE_TTL of the service, see contenders.ts
  codeTtlSeconds: 600,
  logLevel: LOG_LEVEL,
});

await app.listen({ port: Number(PORT), host: '127.0.0.1' });

process.once('SIGTERM', () => {
  app.server.closeAllConnections();
  void app.close().then(() => db.close());
});
