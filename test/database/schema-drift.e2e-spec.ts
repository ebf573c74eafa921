import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { COMPILE_CACHE } from '../support/service-process.js';
import { MIGRATIONS, openDataLayer } from '../support/data-source.js';
import { anInstallation } from '../support/installation.js';

const ROOT = resolve(import.meta.dirname, '../..');
const TYPEORM = resolve(ROOT, 'node_modules/typeorm/cli.js');

const installation = await anInstallation();
afterAll(() => installation.remove());

describe('the schema', () => {
  async function typeorm(command: string): Promise<string> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [TYPEORM, command, '-d', resolve(ROOT, 'ormconfig.ts')],
      { cwd: ROOT, env: { PATH: process.env['PATH'], ...COMPILE_CACHE, ...installation.env } },
    );
    return stdout;
  }

  it('is the same by migrations and entities, and the command line migrates up and down', async () => {
    const names = MIGRATIONS.map(({ name }) => name);
    await typeorm('migration:run');
    expect(await applied()).toEqual(names);
    expect(await typeorm('schema:log')).toContain('Your schema is up to date');

    await typeorm('migration:revert');
    expect(await applied()).toEqual(names.slice(0, -1));
    expect(await typeorm('schema:log')).toContain('Schema synchronization will execute');
  });

  const applied = async (): Promise<unknown[]> =>
    (await installation.db.query('SELECT name FROM migrations ORDER BY id')).map(({ name }) => name);
});

it('has foreign keys to primary keys only, by which Galera orders writes', async () => {
  const data = await openDataLayer();
  const keys = data.dataSource.entityMetadatas.flatMap(({ foreignKeys }) => foreignKeys);
  const others = keys.filter(({ referencedColumns }) =>
    referencedColumns.some(({ isPrimary }) => !isPrimary),
  );
  await data.close();

  expect(keys.length).toBeGreaterThan(3);
  expect(others.map(({ name }) => name)).toEqual([]);
});
