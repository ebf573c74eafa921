import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FLAGS, readSettings, shownOf, variableOf, VERSION } from '../src/guard/settings.ts';
import { WrongUsage } from '../src/guard/wrong-usage.ts';

const SECRET = 'acs_never-shown';
const directory = mkdtempSync(join(tmpdir(), 'guard-settings-'));
const secretFile = join(directory, 'secret');
const emptyFile = join(directory, 'empty');
writeFileSync(secretFile, `${SECRET}\n`);
writeFileSync(emptyFile, '\n');
mkdirSync(join(directory, 'folder'));
afterAll(() => rmSync(directory, { recursive: true }));

const NEEDED = {
  issuer: 'https://accounts.example.com',
  audience: 'billing',
  service: 'billing',
  'secret-file': secretFile,
};
const flagsOf = (values: Record<string, string>): string[] =>
  Object.entries(values).map(([name, value]) => `--${name}=${value}`);

/** The lines for these flags; a value of undefined leaves the flag out. */
function linesFor(given: Record<string, string | undefined>, ...more: string[]): readonly string[] {
  const flags = Object.entries({ ...NEEDED, ...given }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
  return linesOf([...flags, ...more], {});
}

function linesOf(argv: string[], env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readSettings(argv, env);
    return [];
  } catch (error) {
    if (error instanceof WrongUsage) return error.lines;
    throw error;
  }
}

describe('readSettings', () => {
  it('needs four settings, and has a default for the others', () => {
    const settings = readSettings(flagsOf(NEEDED), {});
    expect(settings).toMatchObject({
      listen: [{ host: '127.0.0.1', port: 9190 }],
      socketMode: 0o660,
      issuer: 'https://accounts.example.com',
      url: 'https://accounts.example.com',
      audience: ['billing'],
      service: 'billing',
      maxStaleness: 30,
      remember: 100_000,
    });
    expect(settings.secret()).toBe(SECRET);
    expect(JSON.stringify(shownOf(settings))).not.toContain(SECRET);
  });

  it('reads the file of the secret each time', () => {
    const file = join(directory, 'rotated');
    writeFileSync(file, 'old');
    const { secret } = readSettings(flagsOf({ ...NEEDED, 'secret-file': file }), {});
    writeFileSync(file, 'new\n');
    expect(secret()).toBe('new');
    rmSync(file);
    expect(() => secret()).toThrow('ENOENT');
  });

  it('reads each flag from its variable, too, and prefers the flag', () => {
    const values: Record<string, string> = {
      listen: '127.0.0.1:1, unix:/tmp/x.sock',
      'allow-remote': 'true',
      'socket-mode': '600',
      issuer: 'accounts',
      url: 'http://accounts:3000/',
      audience: 'billing, accounts',
      service: 'billing',
      'secret-file': secretFile,
      'max-staleness': '4',
      remember: '7',
    };
    expect(Object.keys(values)).toEqual(FLAGS.map(({ name }) => name));
    const env = Object.fromEntries(Object.entries(values).map(([name, value]) => [variableOf(name), value]));
    const settings = readSettings([], env);
    expect(shownOf(settings)).toEqual({
      listen: '127.0.0.1:1,unix:/tmp/x.sock',
      'socket-mode': '0600',
      issuer: 'accounts',
      url: 'http://accounts:3000',
      audience: 'billing,accounts',
      service: 'billing',
      'secret-file': secretFile,
      'max-staleness': 4,
      remember: 7,
    });
    const preferred = readSettings(['--listen', '0.0.0.0:2', '--listen', '[::1]:3', '--remember=8'], env);
    expect(preferred.listen).toEqual([
      { host: '0.0.0.0', port: 2 },
      { host: '::1', port: 3 },
    ]);
    expect(preferred.remember).toBe(8);
  });

  it('takes an empty variable as absent, and the secret from a variable in place of a file', () => {
    const { 'secret-file': _, ...others } = NEEDED;
    const env = { GUARD_SECRET: `${SECRET}\n`, GUARD_SECRET_FILE: '', GUARD_MAX_STALENESS: ' ' };
    const settings = readSettings(flagsOf(others), env);
    expect(settings.secret()).toBe(SECRET);
    expect(settings.maxStaleness).toBe(30);
    expect(JSON.stringify(shownOf(settings))).not.toContain(SECRET);
  });

  const LISTENS = 'is not IP:PORT, [IP]:PORT, localhost:PORT or unix:/PATH';
  const REMOTE = 'is not loopback, which --allow-remote would permit; the traffic is not encrypted';
  it.each<[Record<string, string | undefined>, string]>([
    [{ issuer: undefined }, '--issuer: is required'],
    [{ issuer: ' ' }, '--issuer: is required'],
    [{ issuer: 'https://a.example/b' }, '--url: is required, because the issuer has a path or is not a URL'],
    [{ issuer: 'accounts' }, '--url: is required, because the issuer has a path or is not a URL'],
    [{ url: 'accounts:3000' }, '--url: must be the URL of Accounts, such as https://accounts.example.com'],
    [{ remember: '' }, '--remember: is required'],
    [{ audience: undefined }, '--audience: is required'],
    [{ audience: 'a,,b' }, '--audience: has an empty part between commas'],
    [{ service: undefined }, '--service: is required'],
    [{ service: 'Billing' }, '--service: is not the name of a service'],
    [{ 'secret-file': undefined }, '--secret-file: is required, or the variable GUARD_SECRET'],
    [
      { 'secret-file': join(directory, 'none') },
      `--secret-file: ${join(directory, 'none')} cannot be read (ENOENT)`,
    ],
    [{ 'secret-file': emptyFile }, `--secret-file: ${emptyFile} is empty`],
    [
      { 'secret-file': join(directory, 'folder') },
      `--secret-file: ${join(directory, 'folder')} cannot be read (EISDIR)`,
    ],
    [{ listen: '0.0.0.0:80' }, `--listen: 0.0.0.0:80 ${REMOTE}`],
    [{ listen: '[::]:80' }, `--listen: [::]:80 ${REMOTE}`],
    [{ listen: '[::ffff:10.0.0.1]:80' }, `--listen: [::ffff:10.0.0.1]:80 ${REMOTE}`],
    [{ listen: '127.0.0.1' }, `--listen: 127.0.0.1 ${LISTENS}`],
    [{ listen: 'accounts:80' }, `--listen: accounts:80 ${LISTENS}`],
    [{ listen: '127.example.com:80' }, `--listen: 127.example.com:80 ${LISTENS}`],
    [{ listen: '[127.0.0.1]:80' }, `--listen: [127.0.0.1]:80 ${LISTENS}`],
    [{ listen: '127.0.0.1:0' }, '--listen: the port of 127.0.0.1:0 is not between 1 and 65535'],
    [{ listen: 'localhost:70000' }, '--listen: the port of localhost:70000 is not between 1 and 65535'],
    [{ listen: 'unix:x.sock' }, '--listen: unix: needs a path that begins with /'],
    [{ listen: `unix:/${'x'.repeat(107)}` }, '--listen: the path of the socket is longer than 107 bytes'],
    [{ listen: `unix:${directory}/none/x` }, `--listen: there is no directory ${directory}/none`],
    [{ listen: `unix:${secretFile}/x` }, `--listen: there is no directory ${secretFile}`],
    [{ 'socket-mode': '0888' }, '--socket-mode: must be an octal mode such as 0660'],
    [{ 'max-staleness': '3' }, '--max-staleness: must be at least 4'],
    [{ 'max-staleness': '1e3' }, '--max-staleness: must be a whole number'],
    [{ remember: '0' }, '--remember: must be at least 1'],
    [{ 'allow-remote': 'yes' }, '--allow-remote: takes no value'],
    [{ secret: SECRET }, '--secret: there is no such flag, only --secret-file'],
    [{ acs_AbC1: '' }, '--…: there is no such flag'],
    [{ 'max-stale': '3' }, '--max-stale: there is no such flag'],
  ])('refuses %j', (given, line) => {
    expect(linesFor(given)).toEqual([line]);
  });

  it('never shows a secret that stands where a flag does not take it', () => {
    const lines = linesFor({}, '--secret', SECRET, `--${SECRET}`, '--service', 'other');
    expect(lines).toEqual([
      '--secret: there is no such flag, only --secret-file',
      '--…: there is no such flag',
      '--service: is given twice',
    ]);
  });

  it.each([['chekc'], ['--allow-remote', 'true'], ['--remember=5', 'check'], [SECRET]])(
    'takes no argument beside flags and their values: %s %s',
    (...more) => {
      const line =
        'besides flags and their values, only check or conformance may be given, as the first argument';
      expect(linesFor({}, ...more)).toEqual([line]);
    },
  );

  it('refuses variables that do not exist, and shows no value', () => {
    const env = { GUARD_MAX_STALE: '5', GUARD_SECRTE: SECRET, [`GUARD_${SECRET}`]: 'x', GUARD_UNSET: '' };
    expect(linesOf(flagsOf(NEEDED), env)).toEqual([
      'there is no variable GUARD_MAX_STALE',
      'there is no variable GUARD_SECRTE',
      'there is no variable GUARD_…',
    ]);
  });

  it('takes the variables that Kubernetes sets beside a service named guard', () => {
    const tcp = 'tcp://10.0.0.7:9190';
    const ports = { GUARD_PORT: tcp, GUARD_PORT_9190_TCP: tcp, GUARD_SERVICE_PORT_HTTP: '9190' };
    const env = { ...ports, GUARD_SERVICE_HOST: '10.0.0.7', GUARD_SERVICE_PORT: '9190' };
    expect(linesOf(flagsOf(NEEDED), env)).toEqual([]);
  });

  it('has a line for each wrong setting', () => {
    expect(linesOf([], { GUARD_ALLOW_REMOTE: 'yes' })).toEqual([
      'GUARD_ALLOW_REMOTE: must be true or false',
      '--issuer: is required',
      '--audience: is required',
      '--service: is required',
      '--secret-file: is required, or the variable GUARD_SECRET',
    ]);
    const both = linesOf(flagsOf(NEEDED), { GUARD_SECRET: SECRET });
    expect(both).toEqual(['--secret-file: GUARD_SECRET is set too']);
  });
});

it('names the version of the package', () => {
  const { version } = JSON.parse(readFileSync('client/package.json', 'utf8')) as { version: string };
  expect(VERSION).toBe(version);
});
