import { afterAll, describe, expect, it } from 'vitest';
import { anAccount, anEmail, anOrg, aPassword, aCode } from '../support/personas.js';
import { requestBytes, sendBytes } from '../support/raw-connection.js';
import { startService } from '../support/service.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const service = await startService({ env: { LOG_LEVEL: 'trace' } });
afterAll(() => service.stop());

/** That no secret is in the logs is checked at the end of every test file, by the service's own `stop()`. */
describe('the logs', () => {
  const linesWith = (text: string) => service.logs.filter((line) => line.includes(text));
  const untilLogged = (text: string) =>
    waitFor(`a line with ${text}`, hangTimeoutMs(), () => linesWith(text).length > 0);

  it('name the request id of an error answer', async () => {
    const answer = await service.anyone.get<{ requestId: string }>('/api/nothing');

    expect(await untilLogged(answer.body.requestId)).toBe(true);
  });

  it('are whole JSON lines, whatever a client sends', async () => {
    const forged = '\n{"level":30,"msg":"forged line"}';
    await service.anyone.post('/api/auth/login', {
      email: `a@b.co${forged}`,
      password: aPassword() + forged,
    });
    await service.anyone.get(`/api/orgs/${encodeURIComponent(forged)}`);
    await (await anAccount(service)).get(`/api/orgs/${encodeURIComponent(forged)}`);
    await service.anyone.with({ 'user-agent': 'forged line', 'x-request-id': 'forged line' }).get('/api/me');
    const last = await service.anyone.get<{ requestId: string }>('/api/nothing');

    await untilLogged(last.body.requestId);
    for (const line of service.logs) {
      const entry = JSON.parse(line) as { msg?: string; level: number; time: string };
      expect(entry.msg).not.toBe('forged line');
      expect(entry.level).toEqual(expect.any(Number));
      expect(new Date(entry.time).toISOString()).toBe(entry.time);
    }
  });

  it('record who did what to whom', async () => {
    const { org, owner, member } = await anOrg(service);

    await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    await untilLogged('"PATCH"');

    const entries = linesWith(org.id).map((line) => JSON.parse(line) as object);
    expect(entries).toContainEqual(
      expect.objectContaining({
        method: 'PATCH',
        status: 200,
        userId: owner.id,
        orgId: org.id,
        memberId: member.id,
      }),
    );
  });

  it('hold no secret, even when a client misplaces it or a request fails', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aCode(ada);
    const password = aPassword();
    service.installation.secrets.note(password);

    await service.anyone.get(`/api/me?access_token=${ada.token}&password=${password}`);
    await service.anyone.post(`/api/auth/code/exchange?code=${code}`, { code: [code] });
    await service.anyone.get(`/api/${code}`);
    await service.anyone.get(`/${ada.token}`);
    await service.anyone.with({ cookie: `token=${ada.token}` }).get('/api/me');
    await service.anyone.post('/api/auth/register', { email: ada.email, password });
    await service.anyone.post('/api/auth/login', { email: password, password });
    await service.anyone.send('POST', '/api/auth/login', {
      headers: { 'content-type': 'application/json' },
      body: `{"email":"${anEmail()}","password":"${password}`,
    });
    await service.db.query("UPDATE users SET password_hash = '$argon2id$damaged' WHERE id = ?", [ada.id]);
    await service.anyone.post('/api/auth/login', { email: ada.email, password: ada.password });
    await sendBytes(
      service,
      requestBytes('GET /api/me', [`Authorization: Bearer ${ada.token}`, `bad ${password}`]),
    );
    const last = await service.anyone.get<{ requestId: string }>('/api/nothing');

    await untilLogged(last.body.requestId);
    expect(service.installation.secrets.leaksIn(service.logs)).toEqual([]);
  });
});
