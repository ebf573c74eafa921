import { afterAll, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { anInvitation, verified } from '../support/inviting.js';
import { anInstallation } from '../support/installation.js';
import { aCode, anOrg, anUnknownId } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

/** More than a page. */
const LOGINS = 600;

interface Exported {
  exportedAt: string;
  account: object;
  organizations: object[];
  sessions: { id: string; via: string }[];
  mails: object[];
  invitations: object[];
  events: { id: string; type: string; actor: { id: string }; ip: string | null }[];
}

const installation = await anInstallation();
const service = await startOwnService({ installation });
const cast = await anOrg(service);
await service.anyone.post('/api/auth/code/exchange', { code: await aCode(cast.admin) });
await aCode(cast.admin);
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

describe('accounts export', () => {
  /** As if the user had logged in very often. */
  async function addLogins(userId: string): Promise<void> {
    const numbers = Array.from({ length: LOGINS }, (_, index) => index);
    const id = (number: number): string => `01a1fbf4-7ea2-724e-b0f0-${String(number).padStart(12, '0')}`;
    const rows = (each: string): string => numbers.map(() => each).join();
    await service.db.query(
      `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at) VALUES ${rows('(?, ?, 1, 1, 1)')}`,
      numbers.flatMap((number) => [id(number), userId]),
    );
    await service.db.query(
      `INSERT INTO events (id, type, at, actor_type, user_id, data)
        VALUES ${rows("(?, 'session.started', 1, 'user', ?, '{}')")}`,
      numbers.flatMap((number) => [id(number), userId]),
    );
  }

  it('holds everything about the user, and nothing of others or secret', async () => {
    const { org, owner, admin } = cast;
    await addLogins(admin.id);
    await verified(service.db, admin);
    for (const recipient of [admin.email, owner.email]) {
      await service.db.query(
        `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at)
          VALUES (?, 'password_changed', ?, 'sent', ?, 1)`,
        [anUnknownId(), recipient, Date.now()],
      );
    }
    const { code, stdout, stderr } = await accounts(installation, ['export', admin.email]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const found = JSON.parse(stdout) as Exported;
    const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
    expect(found).toMatchObject({
      exportedAt: aTime,
      account: { id: admin.id, email: admin.email, createdAt: aTime, disabledAt: null },
      organizations: [{ id: org.id, name: org.name, role: 'admin', joinedAt: aTime }],
    });
    expect(found.mails).toEqual([expect.objectContaining({ kind: 'password_changed', state: 'sent' })]);
    expect(found.sessions).toHaveLength(LOGINS + 2);
    expect(new Set(found.sessions.map(({ id }) => id)).size).toBe(LOGINS + 2);
    expect(found.sessions.filter(({ via }) => via === 'code')).toHaveLength(1);

    const events = found.events.filter(({ ip }) => ip !== null);
    expect(found.events).toHaveLength(LOGINS + 3);
    expect(events.map(({ type, ip }) => `${type} ${ip}`).toSorted()).toEqual([
      'account.registered 127.0.0.1',
      'session.started 127.0.0.1',
    ]);
    expect(found.events.find(({ type }) => type === 'member.added')).toMatchObject({
      actor: { id: owner.id, sessionId: null },
      ip: null,
      requestId: null,
    });

    const hashes = await service.db.query('SELECT password_hash AS hash FROM users');
    const codes = await service.db.query('SELECT hash FROM authorization_codes');
    const secrets = [...hashes, ...codes].map(({ hash }) => String(hash));
    expect(secrets.length).toBeGreaterThan(4);
    const opened = await service.db.query(
      'SELECT code_hash AS hash FROM sessions WHERE code_hash IS NOT NULL',
    );
    for (const secret of [...secrets, String(opened[0]!['hash']), owner.email, admin.token, 'argon2']) {
      expect(stdout).not.toContain(secret);
    }
  });

  it('holds the invitations for the e-mail, once it is verified', async () => {
    const { owner, outsider, org } = cast;
    const invitation = await anInvitation(owner, org, { email: outsider.email });
    const exported = async (): Promise<Exported> =>
      JSON.parse((await accounts(installation, ['export', outsider.id])).stdout) as Exported;

    expect((await exported()).invitations).toEqual([]);
    await verified(service.db, outsider);

    const { id, role, status, createdAt, expiresAt } = invitation;
    expect((await exported()).invitations).toEqual([{ id, org, role, status, createdAt, expiresAt }]);
    const { stdout } = await accounts(installation, ['users', 'show', outsider.id]);
    expect(stdout).toMatch(/^invitations +1 pending$/m);
  });

  it('is what the user gets over HTTP, but for the time', async () => {
    const { stdout } = await accounts(installation, ['export', cast.admin.id]);
    const { body } = await cast.admin.get<Exported>('/api/me/export');

    const { exportedAt, ...printed } = JSON.parse(stdout) as Exported;
    expect(body).toEqual({ ...printed, exportedAt: expect.any(String) as string });
    expect(body.exportedAt >= exportedAt).toBe(true);
  });

  it('is one line with --json', async () => {
    const { stdout } = await accounts(installation, ['export', cast.outsider.id, '--json']);

    expect(stdout.trimEnd()).not.toContain('\n');
    expect(JSON.parse(stdout)).toMatchObject({ account: { id: cast.outsider.id }, organizations: [] });
  });
});
