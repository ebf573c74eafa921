import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { parseEnv } from '../../src/config/env.js';
import type { Check } from '../../src/cli/doctor/check.js';
import { inspect } from '../../src/cli/doctor/doctor.js';
import { anAccount, anEmail } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
await anAccount(service);
afterAll(() => service.stop());

describe('the claims of the doctor', () => {
  const users = async () =>
    Number((await service.db.query('SELECT COUNT(*) AS users FROM users'))[0]!['users']);
  const addUser = () =>
    service.db.query("INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, '', 0)", [
      randomUUID(),
      anEmail(),
    ]);

  it('see one snapshot, whatever is written meanwhile', async () => {
    const counting: Check = {
      claim: 'as many users as before',
      remedy: '',
      findFaults: async ({ runner }) => {
        const [row] = (await runner.query('SELECT COUNT(*) AS users FROM users')) as { users: number }[];
        return [String(row!.users)];
      },
    };
    const writing: Check = { claim: '', remedy: '', findFaults: async () => (await addUser(), []) };
    const before = await users();

    const findings = await inspect(parseEnv(service.installation.env), [counting, writing, counting]);

    expect(findings.map(({ faults }) => faults)).toEqual([[String(before)], [], [String(before)]]);
    expect(await users()).toBe(before + 1);
  });
});
