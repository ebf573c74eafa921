import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anInstallation, type Installation } from '../support/installation.js';

const ROOT = resolve(import.meta.dirname, '../..');
const TYPEORM = resolve(ROOT, 'node_modules/typeorm/cli.js');

describe('the schema', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await anInstallation();
  });

  afterAll(() => installation.remove());

  async function typeorm(command: string): Promise<string> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [TYPEORM, command, '-d', resolve(ROOT, 'ormconfig.ts')],
      { cwd: ROOT, env: { PATH: process.env['PATH'], ...installation.env } },
    );
    return stdout;
  }

  it('is the same by the migrations and by the entities, down and up again', async () => {
    expect(await typeorm('migration:show')).toContain('[ ] CreateSchema1795219200000');
    await typeorm('migration:run');
    expect(await typeorm('schema:log')).toContain('Your schema is up to date');

    await typeorm('migration:revert');
    expect(await typeorm('migration:show')).toContain('[ ] CreateSchema1795219200000');
    expect(await typeorm('schema:log')).toContain('CREATE TABLE');

    await typeorm('migration:run');
    expect(await typeorm('schema:log')).toContain('Your schema is up to date');
  });
});
