import { access, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { invalidCode } from '../support/expected.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { aCode, anAccount, anEmail, aPassword } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

describe('the environment', () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await anInstallation();
  });
  afterEach(() => installation.remove());

  const loginPolicy = async (service: Service) => {
    const answer = await service.anyone.post('/api/auth/login', { email: anEmail(), password: aPassword() });
    return answer.headers.get('ratelimit-policy');
  };

  it('needs no variables: data and keys are created under ./data', async () => {
    const service = await startService({
      installation,
      env: { DATABASE_URL: undefined, JWT_KEYS_FILE: undefined },
    });

    const ada = await anAccount(service, 'ada');
    expect((await ada.get('/api/me')).status).toBe(200);
    await access(join(installation.directory, 'data', 'accounts.sqlite'));
    expect((await stat(join(installation.directory, 'data', 'jwks.json'))).mode & 0o777).toBe(0o600);
    await service.stop();
  });

  it('is completed by a .env file, which does not override it', async () => {
    await writeFile(
      join(installation.directory, '.env'),
      'RATE_LIMIT_LOGIN=3/1h\nRATE_LIMIT_REGISTER=4/1h\n',
    );

    const service = await startService({ installation, env: { RATE_LIMIT_REGISTER: '9/2h' } });

    expect(await loginPolicy(service)).toBe('"login";q=3;w=3600');
    const register = await service.anyone.post('/api/auth/register', {
      email: anEmail(),
      password: aPassword(),
    });
    expect(register.headers.get('ratelimit-policy')).toBe('"register";q=9;w=7200');
    await service.stop();
  });

  it('may name a file with the URL of the database, for the service and its commands', async () => {
    const file = join(installation.directory, 'database-url');
    await writeFile(file, `${installation.env['DATABASE_URL']}\n`, { mode: 0o644 });
    // Beside a default, as in the systemd unit.
    const env = { DATABASE_URL: 'sqlite:/proc/none/accounts.sqlite', DATABASE_URL_FILE: file };

    const service = await startService({ installation, env });
    const ada = await anAccount(service, 'ada');
    const { stdout } = await accounts(installation, ['users', 'show', ada.email], { env });
    await service.stop();

    expect(stdout).toContain(ada.email);
    expect(service.logs.filter((line) => line.includes('DATABASE_URL_FILE'))).toEqual([
      expect.stringContaining('others read it'),
    ]);
  });

  it('may have variables of other programs, and empty values, which count as unset', async () => {
    const others = {
      REDIS_PORT: 'tcp://10.0.0.1:6379',
      DATABASE_HOST: 'db',
      SMTP_PASSWORD: 'x',
      JWT_SECRET: 'x',
    };
    const empty = { RATE_LIMIT_LOGIN: '', TRUST_PROXY: '', CORS_ORIGINS: ' ', REDIS_URL: '', LOG_LEVEL: '' };
    const service = await startService({ installation, env: { ...others, ...empty } });

    expect((await service.anyone.get('/health/ready')).status).toBe(200);
    expect(await loginPolicy(service)).toBe('"login";q=10;w=900');
    await service.stop();
  });
});

describe('lifetimes', () => {
  it('a code expires after CODE_TTL', async () => {
    const service = await startService({ env: { CODE_TTL: '1s' } });
    const ada = await anAccount(service, 'ada');
    const code = await aCode(ada);

    await pass(1_100);

    expect(await service.anyone.post('/api/auth/code/exchange', { code })).toMatchObject(invalidCode);
    await service.stop();
  });

  it('no token outlives SESSION_MAX_AGE, and a chain of codes never extends the login', async () => {
    const service = await startService({ env: { TOKEN_TTL: '24h', SESSION_MAX_AGE: '1h' } });
    const ada = await anAccount(service, 'ada');
    const login = decodeToken(ada.token).claims as { auth_time: number; exp: number };
    expect(login.exp).toBe(login.auth_time + 3600);

    let token = ada.token;
    for (let link = 0; link < 20; link += 1) {
      // Without this wait, a lifetime that restarts at each link would go unnoticed.
      if (link === 1) await pass(1_100);
      const issued = await service.anyone.withToken(token).post<{ code: string }>('/api/auth/code');
      const exchanged = await service.anyone.post<{ token: string }>('/api/auth/code/exchange', {
        code: issued.body.code,
      });
      expect(exchanged.status).toBe(200);
      token = exchanged.body.token;
      const claims = decodeToken(token).claims as { auth_time: number; exp: number };
      expect(claims.auth_time).toBe(login.auth_time);
      expect(claims.exp).toBeLessThanOrEqual(login.auth_time + 3600);
    }
    await service.stop();
  });

  it('a code is refused once its login has reached SESSION_MAX_AGE', async () => {
    const service = await startService({ env: { SESSION_MAX_AGE: '2s' } });
    const ada = await anAccount(service, 'ada');
    const { auth_time: authTime } = decodeToken(ada.token).claims as { auth_time: number };
    const code = await aCode(ada);

    await pass((authTime + 3) * 1000 - Date.now());

    expect(await service.anyone.post('/api/auth/code/exchange', { code })).toMatchObject(invalidCode);
    expect(await service.db.query('SELECT id FROM sessions WHERE code_hash IS NOT NULL')).toEqual([]);
    await service.stop();
  });
});
