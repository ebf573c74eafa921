import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { expect, it } from 'vitest';
import { NodeSqlite } from './sqlite/node-sqlite.js';
import { MysqlHost } from './mysql/mysql-pool.js';
import { sendStatement } from './mysql/mysql-query-runner.js';

interface Lock {
  packages: Record<string, { version: string } | undefined>;
}

/** What the adapters were written against: after an upgrade, read what they replace, then change the version here. */
const VERSIONS = { typeorm: '1.1.1', mysql2: '3.24.6' };

/** What a query runner's own methods are, that are replaced, or called by what replaces them. */
const REPLACED = ['startTransaction', 'commitTransaction', 'rollbackTransaction', 'query', 'release'];

it.each(Object.entries(VERSIONS))('are written for %s %s, the installed version', (name, version) => {
  const root = join(import.meta.dirname, '../..');
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  expect(packages[`node_modules/${name}`]?.version).toBe(version);
});

it.each([
  ['better-sqlite3', new DataSource({ type: 'better-sqlite3', database: ':memory:', driver: NodeSqlite })],
  ['mysql', new DataSource({ type: 'mysql', driver: { createPool: () => ({}) } })],
])('find the methods that they replace in the query runner of %s', (_type, dataSource) => {
  const runner = dataSource.driver.createQueryRunner('master');
  const shape = Object.fromEntries(
    REPLACED.map((method) => [method, typeof (runner as unknown as Record<string, unknown>)[method]]),
  );
  expect(shape).toEqual(Object.fromEntries(REPLACED.map((method) => [method, 'function'])));
  expect(runner.isTransactionActive).toBe(false);
});

it('find the lists of connections that a pool keeps', async () => {
  const host = new MysqlHost({}, []);
  expect(host.connections).toEqual({ idle: 0, inUse: 0 });
  await host.close();
});

it('ends a statement of which no answer comes, with the code of a silent server', async () => {
  const silent = { query: () => undefined as never };
  await expect(sendStatement(silent, 'SELECT 1', [], 1)).rejects.toMatchObject({
    code: 'PROTOCOL_SEQUENCE_TIMEOUT',
  });
});
