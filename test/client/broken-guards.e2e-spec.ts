import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { play } from '../../client/src/conformance/play.ts';
import { readScripts } from '../../client/src/conformance/report.ts';

const folder = mkdtempSync(join(tmpdir(), 'accounts-broken-guards-'));
afterAll(() => rmSync(folder, { recursive: true }));
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
const scripts = readScripts();

interface Broken {
  fault: string;
  script: string;
  file: string;
  text: string;
  becomes: string;
  answer: string;
}

const INTROSPECT = 'await this.calls.read((client, options) => client.introspectToken({ token }, options));';

/** Each is our guard with one mistake that another author could make. */
const BROKEN: Broken[] = [
  {
    fault: 'never introspects',
    script: 'ended-before-start',
    file: 'sessions.ts',
    text: INTROSPECT,
    becomes: 'await Promise.resolve({ active: true });',
    answer: '200',
  },
  {
    fault: 'ignores the end of all sessions',
    script: 'all-sessions-ended',
    file: 'applied-events.ts',
    text: '  if (sessionId !== null) changes.note',
    becomes: '  if (sessionId === null) return;\n  if (sessionId !== null) changes.note',
    answer: '200',
  },
  {
    fault: 'ignores the session that is spared',
    script: 'all-but-one-ended',
    file: 'applied-events.ts',
    text: '{ epoch: data.epoch, except: data.except }',
    becomes: '{ epoch: data.epoch }',
    answer: '401 invalid_token',
  },
  {
    fault: 'ignores removed members',
    script: 'member-removed',
    file: 'applied-events.ts',
    text: "    type === 'member.removed' ||\n",
    becomes: '',
    answer: '200 admin',
  },
  {
    fault: 'lets an answer beat a newer event',
    script: 'membership-answer-late',
    file: 'memberships.ts',
    text: 'this.eventsDuringRead.get(pair) ?? (found && this.pairs.get(pair))',
    becomes: 'undefined as CachedRole | undefined',
    answer: '200 admin',
  },
  {
    fault: 'ignores a gap in the feed',
    script: 'cursor-expired',
    file: 'feed.ts',
    text: '    if (cursor === undefined) this.listener.resync();\n',
    becomes: '',
    answer: '200',
  },
  {
    fault: 'admits while the feed is silent',
    script: 'feed-silent',
    file: 'feed.ts',
    text: 'return silentMs < this.maxStalenessMs;',
    becomes: 'return true;',
    answer: '200 admin',
  },
  {
    fault: 'answers 401 in place of 503',
    script: 'introspection-unavailable',
    file: 'feed-guard.ts',
    text: '      return unavailable(error.cause);',
    becomes: '      return invalidToken(error.cause);',
    answer: '401 invalid_token',
  },
  {
    fault: 'compares roles for equality',
    script: 'owner-where-admin',
    file: 'requirement.ts',
    text: 'return BY_RANK.indexOf(role) >= BY_RANK.indexOf(least);',
    becomes: 'return role === least;',
    answer: '403 insufficient_role',
  },
  {
    fault: 'ignores the revision that a client has seen',
    script: 'own-change',
    file: 'own-revision.ts',
    text: 'return revisions.length > 0 ? Math.max(...revisions) : undefined;',
    becomes: 'return undefined;',
    answer: '403 insufficient_role',
  },
];

/** A copy of `client` in which the text was replaced. Node runs it without a build. */
function brokenGuard({ script, file, text, becomes }: Broken): string {
  const copy = join(folder, script);
  cpSync('client/src', join(copy, 'src'), { recursive: true });
  cpSync('client/package.json', join(copy, 'package.json'));
  const broken = join(copy, 'src/service', file);
  const before = readFileSync(broken, 'utf8');
  expect(before.split(text).length - 1, `once in ${file}: ${text}`).toBe(1);
  writeFileSync(
    broken,
    before.replace(text, () => becomes),
  );
  return join(copy, 'src/guard/main.ts');
}

describe.concurrent('a guard that', () => {
  it.each(BROKEN)('$fault fails $script', async (broken) => {
    const script = scripts.find(({ id }) => id === broken.script)!;
    const outcome = await play(script, [process.execPath, brokenGuard(broken)]);
    expect(outcome).toMatchObject({ id: broken.script, passed: false, answer: broken.answer });
    expect(outcome.step).toBeGreaterThan(0);
  });
});
