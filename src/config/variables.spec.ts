import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type ConfigurationError, parseEnv } from './env.js';

const directory = mkdtempSync(join(tmpdir(), 'variables-'));
afterAll(() => rmSync(directory, { recursive: true }));

function aFile(content: string): string {
  const file = join(directory, `secret-${Math.random()}`);
  writeFileSync(file, content);
  return file;
}

function problemsOf(variables: NodeJS.ProcessEnv): string[] {
  try {
    parseEnv(variables);
    return [];
  } catch (error) {
    return (error as ConfigurationError).problems;
  }
}

const UNUSABLE = 'expected a readable file of at most 16 KiB that is not empty';

describe('a URL in a file', () => {
  it.each(['', '\n', '\r\n'])('is read without the end of its line: %j', (end) => {
    const env = parseEnv({
      DATABASE_URL_FILE: aFile(`mysql://a:hunter2@db/accounts${end}`),
      REDIS_URL_FILE: aFile(`rediss://redis:6380${end}`),
      SMTP_URL_FILE: aFile(`smtps://mail.example.com${end}`),
      MAIL_FROM: 'accounts@example.com',
    });

    expect(env).toMatchObject({
      database: { engine: 'mysql', password: 'hunter2', database: 'accounts' },
      redisUrl: 'rediss://redis:6380',
      smtp: { host: 'mail.example.com', secure: true },
    });
  });

  it('is told apart where others can read it', () => {
    const [shown, hidden] = [aFile('mysql://a:hunter2@db/accounts'), aFile('redis://redis')];
    chmodSync(shown, 0o640);
    chmodSync(hidden, 0o600);

    expect(parseEnv({ DATABASE_URL_FILE: shown, REDIS_URL_FILE: hidden }).exposedFiles).toEqual([
      'DATABASE_URL_FILE',
    ]);
  });

  // The systemd unit sets a default for DATABASE_URL.
  it('wins over its variable', () => {
    const env = parseEnv({
      DATABASE_URL: 'sqlite:./a.sqlite',
      DATABASE_URL_FILE: aFile('mysql://a:hunter2@db/accounts'),
      DATABASE_SSL: 'required',
      REDIS_URL: 'redis://elsewhere',
      REDIS_URL_FILE: aFile('redis://redis'),
      SMTP_URL: 'smtp://elsewhere.example.com',
      SMTP_URL_FILE: aFile('smtp://mail.example.com'),
      MAIL_FROM: 'accounts@example.com',
    });

    expect(env).toMatchObject({
      database: { engine: 'mysql', database: 'accounts', tls: { mode: 'required' } },
      redisUrl: 'redis://redis',
      smtp: { host: 'mail.example.com' },
    });
  });

  it('leaves nothing of its variable where the file cannot be used', () => {
    const problems = problemsOf({ DATABASE_URL: 'sqlite:./a.sqlite', DATABASE_URL_FILE: aFile('') });

    expect(problems).toEqual([`DATABASE_URL_FILE: ${UNUSABLE}`]);
  });

  it('is refused by the name of its variable, without its text', () => {
    const problems = problemsOf({ DATABASE_URL_FILE: aFile('postgres://a:hunter2@db/accounts') });

    expect(problems).toEqual([expect.stringMatching(/^DATABASE_URL_FILE: expected a file with sqlite:FILE/)]);
    expect(problems.join()).not.toContain('hunter2');
  });

  it.each([
    ['is missing', () => join(directory, 'hunter2')],
    ['is a directory', () => directory],
    ['is empty', () => aFile('\n')],
    ['is too long', () => aFile('x'.repeat(16 * 1024 + 1))],
    [
      'is a pipe, which nobody writes to',
      () => {
        const pipe = join(directory, 'pipe');
        execFileSync('mkfifo', [pipe]);
        return pipe;
      },
    ],
  ])('is refused when the file %s', (_what, make) => {
    expect(problemsOf({ DATABASE_URL_FILE: make() })).toEqual([`DATABASE_URL_FILE: ${UNUSABLE}`]);
  });

  it.skipIf(process.getuid?.() === 0)('is refused when the file may not be read', () => {
    const file = aFile('sqlite:./a.sqlite');
    chmodSync(file, 0);

    expect(problemsOf({ DATABASE_URL_FILE: file })).toEqual([`DATABASE_URL_FILE: ${UNUSABLE}`]);
  });
});
