import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { type Account, aCode, type Cast, anOrg } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const DOCTOR = resolve(import.meta.dirname, '../../dist/doctor.js');

describe('the doctor', () => {
  let service: Service;
  let cast: Cast;
  /** sessions: of a login, derived from it, and derived from that */
  let chain: string[];

  beforeAll(async () => {
    service = await startService();
    cast = await anOrg(service);
    const derive = async (from: Account): Promise<Account> => {
      const code = await aCode(from);
      const { body } = await service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code });
      return from.as(body.token);
    };
    const derived = await derive(cast.owner);
    const accounts = [cast.owner, derived, await derive(derived)];
    chain = accounts.map(({ token }) => decodeToken(token).claims['sid'] as string);
    await aCode(cast.owner);
  });

  afterAll(() => service.stop());

  async function examine(env: Record<string, string> = {}) {
    const doctor = spawn(process.execPath, [DOCTOR], {
      cwd: service.installation.directory,
      env: { PATH: process.env['PATH'], ...service.installation.env, ...env },
    });
    const [out, errors, [code]] = await Promise.all([
      text(doctor.stdout),
      text(doctor.stderr),
      once(doctor, 'exit'),
    ]);
    return { code: code as number, lines: out.trim().split('\n'), errors };
  }

  it('finds a running service healthy, claim by claim', async () => {
    const { code, lines, errors } = await examine();

    expect(errors).toBe('');
    expect(lines.filter((line) => !line.startsWith('green  '))).toEqual([]);
    expect(lines).toHaveLength(13);
    expect(code).toBe(0);
  });

  it.each([
    [
      'every organization has an owner',
      () => service.db.query("UPDATE members SET role = 'admin' WHERE role = 'owner'"),
      () => service.db.query("UPDATE members SET role = 'owner' WHERE user_id = ?", [cast.owner.id]),
    ],
    [
      'every role is one of those that exist',
      () => service.db.query("UPDATE members SET role = 'king' WHERE user_id = ?", [cast.member.id]),
      () => service.db.query("UPDATE members SET role = 'member' WHERE user_id = ?", [cast.member.id]),
    ],
    [
      'every e-mail is in its canonical form',
      () => service.db.query('UPDATE users SET email = ? WHERE id = ?', ['Loud@Example.com', cast.member.id]),
      () => service.db.query('UPDATE users SET email = ? WHERE id = ?', ['loud@example.com', cast.member.id]),
    ],
    [
      'every session that a code opened has the session that issued the code',
      () => service.db.query('UPDATE sessions SET parent_id = NULL WHERE id = ?', [chain[1]!]),
      () => service.db.query('UPDATE sessions SET parent_id = ? WHERE id = ?', [chain[0]!, chain[1]!]),
    ],
    [
      'every session that a code opened has the session that issued the code',
      () => service.db.query("UPDATE sessions SET parent_id = 'gone' WHERE id = ?", [chain[1]!]),
      () => service.db.query('UPDATE sessions SET parent_id = ? WHERE id = ?', [chain[0]!, chain[1]!]),
    ],
    [
      'every session that a code opened is of the same login as the one that issued it',
      () => service.db.query('UPDATE sessions SET user_id = ? WHERE id = ?', [cast.admin.id, chain[1]!]),
      () => service.db.query('UPDATE sessions SET user_id = ? WHERE id = ?', [cast.owner.id, chain[1]!]),
    ],
    [
      'every session that a code opened is of the same login as the one that issued it',
      () => service.db.query('UPDATE sessions SET auth_time = auth_time - 1 WHERE id = ?', [chain[1]!]),
      () => service.db.query('UPDATE sessions SET auth_time = auth_time + 1 WHERE id = ?', [chain[1]!]),
    ],
    [
      'no session is alive below one that was ended with all below it',
      () => service.db.query('UPDATE sessions SET descendants_revoked_at = 1 WHERE id = ?', [chain[0]!]),
      () => service.db.query('UPDATE sessions SET descendants_revoked_at = NULL'),
    ],
    [
      'the tables are as the migrations made them',
      () =>
        service.db.query(
          engine === 'sqlite'
            ? 'DROP INDEX sessions_expires_at_id_idx'
            : 'ALTER TABLE sessions DROP INDEX sessions_expires_at_id_idx',
        ),
      () => service.db.query('CREATE INDEX sessions_expires_at_id_idx ON sessions (expires_at, id)'),
    ],
    [
      'every migration of this version has run',
      () => service.db.query("UPDATE migrations SET name = CONCAT('x', name)"),
      () => service.db.query('UPDATE migrations SET name = SUBSTR(name, 2)'),
    ],
  ])('sees when not %s', async (claim, damage, repair) => {
    await damage();
    const sick = await examine();
    await repair();

    expect(sick.lines).toContain(`RED    ${claim}`);
    expect(sick.code).toBe(1);
    expect((await examine()).code).toBe(0);
  });

  it('ends with 2 and one line when nothing can be checked', async () => {
    const { code, errors } = await examine({ DATABASE_URL: 'sqlite:./nowhere.sqlite' });

    expect(errors).toMatch(/^DATABASE_URL: [^\n]+\n$/);
    expect(code).toBe(2);
  });
});
