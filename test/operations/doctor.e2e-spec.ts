import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { aCode, type Cast, anOrg } from '../support/personas.js';
import { type Service, startOwnService } from '../support/service.js';

const DOCTOR = resolve(import.meta.dirname, '../../dist/doctor.js');

describe('the doctor', () => {
  let service: Service;
  let cast: Cast;

  beforeAll(async () => {
    service = await startOwnService();
    cast = await anOrg(service);
    for (const code of [await aCode(cast.owner), await aCode(cast.owner)]) {
      await service.anyone.post('/api/auth/code/exchange', { code });
    }
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
    expect(lines).toHaveLength(12);
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
      'no authorization code was used twice',
      () => service.db.query("UPDATE authorization_codes SET granted_session_id = 'the same'"),
      () => service.db.query('UPDATE authorization_codes SET granted_session_id = SUBSTR(hash, 1, 36)'),
    ],
    [
      'the tables are as the migrations made them',
      () =>
        service.db.query(
          engine === 'sqlite'
            ? 'DROP INDEX sessions_expires_at_idx'
            : 'ALTER TABLE sessions DROP INDEX sessions_expires_at_idx',
        ),
      () => service.db.query('CREATE INDEX sessions_expires_at_idx ON sessions (expires_at)'),
    ],
    [
      'every migration of this version has run',
      () => service.db.query("UPDATE migrations SET name = 'x'"),
      () => service.db.query("UPDATE migrations SET name = 'CreateSchema1795219200000'"),
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
