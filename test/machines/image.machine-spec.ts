import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../tooling/wait.js';
import { docker, inspect } from './support/images.js';

const PORT = 3000;
const MAX_BYTES = 260_000_000;
const MAX_GUARD_BYTES = 1_000_000;
const HEALTHY_TIMEOUT_MS = 120_000;
const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery' };
/** Nobody listens there: a start reads the templates of emails wherever a server is named. */
const MAIL = ['--env', 'SMTP_URL=smtp://127.0.0.1:9', '--env', 'MAIL_FROM=accounts@example.com'];
const DOCS = ['--env', 'DOCS=on'];
const VOLUME = ['--volume', 'accounts-data:/app/data', '--env', 'JWT_KEYS_FILE=/app/data/jwks.json'];
const HARDENED = '--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges'.split(' ');

describe('the image', () => {
  beforeAll(async () => {
    await docker('run', '--rm', ...VOLUME, 'accounts', 'accounts', 'keys', 'create');
    const options = [...HARDENED, ...VOLUME, ...MAIL, ...DOCS, '--publish', `${PORT}:3000`];
    await docker('run', '--detach', '--name', 'one', ...options, 'accounts');
  });
  afterAll(() => docker('rm', '--force', 'one'));

  it('becomes healthy', async () => {
    await untilHealthy();
    expect((await fetch(`http://127.0.0.1:${PORT}/health/ready`)).status).toBe(200);
  });

  it('has at most 260 MB', async () => {
    expect(Number(await inspect('accounts', '.Size'))).toBeLessThanOrEqual(MAX_BYTES);
  });

  it('starts from compiled code, which it cannot change', async () => {
    const debug = ['--env', 'NODE_DEBUG_NATIVE=COMPILE_CACHE'];
    const output = await docker('exec', ...debug, 'one', 'accounts', 'users', 'list');
    expect(output.match(/V8 code cache for \S+ \S+ was (?!accepted).*/g)).toBeNull();
    expect(output.match(/V8 code cache for \S+ \S+ was accepted/g)?.length).toBeGreaterThan(0);
    expect(await docker('exec', 'one', 'find', 'cache', '!', '-user', 'root')).toBe('');
  });

  it('contains the native packages, and Swagger UI', async () => {
    const packages = ['@node-rs/argon2', 'argon2', 'bcrypt'];
    for (const name of packages) await docker('exec', 'one', 'node', '--eval', `require('${name}')`);
    for (const path of ['/docs', '/docs/swagger-ui-bundle.js'])
      expect((await fetch(`http://127.0.0.1:${PORT}${path}`)).status, path).toBe(200);
  });

  it('runs as uid 1000, without capabilities or privilege escalation', async () => {
    const status = await docker('exec', 'one', 'cat', '/proc/1/status');
    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  });

  it('writes only its data', async () => {
    expect(await docker('diff', 'one')).toBe('');
    await expect(docker('exec', 'one', 'touch', '/app/x')).rejects.toThrow('Read-only file system');
    expect(await docker('exec', 'one', 'stat', '--format', '%a %u', 'data')).toBe('700 1000');
  });

  it('keeps its data across a restart', async () => {
    expect(await send('register')).toBe(201);
    await docker('restart', 'one');
    await untilHealthy();
    expect(await send('register')).toBe(409);
    expect(await send('login')).toBe(200);
  });

  it('contains the command line and the templates of mails', async () => {
    const found = await docker('exec', 'one', 'accounts', 'users', 'find', ACCOUNT.email, '--json');
    const { token } = (await (await request('login')).json()) as { token: string };
    const asked = await fetch(`http://127.0.0.1:${PORT}/api/me/email/verification`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(JSON.parse(found)).toMatchObject({ email: ACCOUNT.email });
    expect(asked.status).toBe(202);
    const mails = await docker('exec', 'one', 'accounts', 'mail', 'list', '--json');
    expect(JSON.parse(mails)).toMatchObject({ kind: 'email_verification', state: 'waiting' });
  });

  it('exits with 0 within ten seconds of SIGTERM', async () => {
    await docker('stop', '--time', '10', 'one');
    expect(await inspect('one', '.State.ExitCode')).toBe('0');
  });

  it('contains the doctor, which finds the data healthy', async () => {
    const findings = await docker(
      'run',
      '--rm',
      ...HARDENED,
      ...VOLUME,
      'accounts',
      'node',
      'dist/cli/main.js',
      'doctor',
    );
    expect(findings).toContain('green');
    expect(findings).not.toContain('RED');
  });

  it('contains the sidecar, which needs no database and no keys', async () => {
    const start = ['run', '--rm', ...HARDENED, 'accounts', 'accounts-guard'];
    expect(await docker(...start, '--help')).toContain('--max-staleness');
    await expect(docker(...start)).rejects.toThrow(/^accounts-guard: --issuer: is required$/m);
    const size = await docker('run', '--rm', 'accounts', 'du', '--summarize', '--bytes', 'guard');
    expect(Number.parseInt(size, 10)).toBeLessThan(MAX_GUARD_BYTES);
    const options = ['--issuer=https://accounts.example.com', '--audience=billing', '--service=billing'];
    const named = [...HARDENED, '--detach', '--name', 'guard', '--env', 'GUARD_SECRET=acs_none'];
    await docker('run', ...named, 'accounts', 'accounts-guard', ...options);
    await waitFor('its start', HEALTHY_TIMEOUT_MS, async () =>
      (await docker('logs', 'guard')).includes('"msg":"listening"'),
    );
    await docker('stop', '--time', '10', 'guard');
    expect(await inspect('guard', '.State.ExitCode')).toBe('0');
    await docker('rm', 'guard');
  });

  it('reports a missing key in one line', async () => {
    const start = docker('run', '--rm', ...HARDENED, '--tmpfs', '/app/data', 'accounts');
    await expect(start).rejects.toThrow(/^JWT_KEYS_FILE: .*\n$/m);
  });

  function untilHealthy(): Promise<unknown> {
    return waitFor(
      'health',
      HEALTHY_TIMEOUT_MS,
      async () => (await inspect('one', '.State.Health.Status')) === 'healthy',
    );
  }

  const send = async (route: 'register' | 'login'): Promise<number> => (await request(route)).status;

  function request(route: 'register' | 'login'): Promise<Response> {
    return fetch(`http://127.0.0.1:${PORT}/api/auth/${route}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(ACCOUNT),
    });
  }
});
