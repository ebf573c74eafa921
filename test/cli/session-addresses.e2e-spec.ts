import { afterAll, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { allRows } from '../support/all-rows.js';
import { anInstallation } from '../support/installation.js';
import { anEmail, aPassword, type Session } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const ADDRESS = '203.0.113.77';
const USER_AGENT = 'Looms/1.0';

const installation = await anInstallation();
const service = await startOwnService({ installation, env: { TRUST_PROXY: '127.0.0.1' } });
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

describe('the client addresses of sessions', () => {
  it('are exported with them, and gone with the account', async () => {
    const credentials = { email: anEmail(), password: aPassword() };
    const client = service.anyone.with({ 'x-forwarded-for': ADDRESS, 'user-agent': USER_AGENT });
    const { body } = await client.post<Session>('/api/auth/register', credentials);
    await client.post('/api/auth/login', { ...credentials, refresh: true });
    const user = client.withToken(body.token);
    const { code } = (await user.post<{ code: string }>('/api/auth/code')).body;
    expect((await client.post('/api/auth/code/exchange', { code })).status).toBe(200);

    const { stdout } = await accounts(installation, ['export', credentials.email]);
    const { sessions } = JSON.parse(stdout) as { sessions: object[] };
    expect(sessions).toHaveLength(3);
    for (const session of sessions) expect(session).toMatchObject({ ip: ADDRESS, userAgent: USER_AGENT });
    expect(await tablesWith(ADDRESS)).toEqual(['events', 'sessions']);

    expect((await user.delete('/api/me', { password: credentials.password })).status).toBe(200);

    expect(await tablesWith(ADDRESS)).toEqual([]);
    expect(await tablesWith(USER_AGENT)).toEqual([]);
  });

  async function tablesWith(text: string): Promise<string[]> {
    const tables = Object.entries(await allRows(service.db));
    return tables.flatMap(([name, rows]) => (rows.some((row) => row.includes(text)) ? name : [])).toSorted();
  }
});
