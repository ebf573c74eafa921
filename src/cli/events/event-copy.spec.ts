import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { rowsOf } from '../../events/event.entity.js';
import { EVENT_TYPES } from '../../events/event-types.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import { type CopiedEvent, copiedEvent, readCopy } from './event-copy.js';

const directory = mkdtempSync(join(tmpdir(), 'event-copy-'));
afterAll(() => rmSync(directory, { recursive: true }));
const file = join(directory, 'events.jsonl');

const [userId, orgId] = [newEntityId(), newEntityId()];
const origin = { address: '198.51.100.7', requestId: 'a-request' };
const operator = { kind: 'operator', id: 'ada', reason: 'left', ...origin } as const;
const user = { kind: 'user', id: userId, sessionId: newEntityId(), isDelegated: false, ...origin } as const;
const events = rowsOf([
  { type: 'account.disabled', actor: operator, userId, userRevision: 7, data: { force: true } },
  {
    type: 'member.removed',
    actor: user,
    orgId,
    orgRevision: 2,
    userId,
    data: { role: 'member', reason: 'left' },
  },
  { type: 'service.removed', actor: { kind: 'system' }, data: { service: 'billing' } },
]).map(copiedEvent);
const lines = events.map((event) => JSON.stringify(event));

interface CopiedLine {
  line: number;
  event: CopiedEvent;
}

async function readAll(copy: string): Promise<CopiedLine[]> {
  const found: CopiedLine[] = [];
  for await (const one of readCopy(copy)) found.push(one);
  return found;
}

function read(text: string): Promise<CopiedLine[]> {
  writeFileSync(file, text);
  return readAll(file);
}

const refusal = (line: number) => `${file}, line ${line}: not an event of a copy of the audit log`;

describe('a copy of the audit log', () => {
  it('has every field of an event but the IP address, the id first', () => {
    expect(lines[0]).toMatch(/^\{"id":"/);
    expect(lines.join()).not.toContain('198.51.100.7');
    expect(events[0]).toEqual({
      id: expect.any(String) as unknown,
      type: 'account.disabled',
      at: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
      actor: { type: 'operator', id: 'ada', sessionId: null, email: null },
      orgId: null,
      orgRevision: null,
      userId,
      userRevision: 7,
      sessionId: null,
      requestId: 'a-request',
      reason: 'left',
      data: { force: true },
    });
  });

  it('is read in its order, with the number of each line', async () => {
    expect(await read(`${lines.join('\n')}\n`)).toEqual(events.map((event, n) => ({ line: n + 1, event })));
    expect(await read('')).toEqual([]);
  });

  it('is read without its torn last line, wherever it is torn', async () => {
    const whole = `${lines[0]}\n`;
    for (let bytes = 1; bytes <= lines[1]!.length; bytes += 1) {
      const torn = lines[1]!.slice(0, bytes);
      expect(await read(whole + torn)).toHaveLength(1);
      expect(await read(torn)).toEqual([]);
    }
    expect(await read(`${whole}\0\0\0`)).toHaveLength(1);
  });

  it('is refused where a line was torn in the middle, with its number', async () => {
    const joined = `${lines[0]}\n${lines[1]!.slice(0, 40)}${lines[2]}\n${lines[2]}\n`;
    await expect(read(joined)).rejects.toThrow(refusal(2));
    await expect(read(`${lines[0]}\n\n${lines[1]}\n`)).rejects.toThrow(refusal(2));
    await expect(read(`${lines[0]}\n${'x'.repeat(70_000)}\n`)).rejects.toThrow(refusal(2));
  });

  it.each([
    'root:x:0:0:root:/root:/bin/bash\n',
    'a file of one line',
    '\0\0\0\0',
    '{"id":1}\n',
    '[]\n',
    '\n',
  ])('is no other file: %j', async (text) => {
    await expect(read(text)).rejects.toThrow(refusal(1));
  });

  it.each<[field: string, value: unknown]>([
    ['id', 'x'],
    ['type', '\u001B[31m.x'],
    ['at', 'then'],
    ['at', '1 Jan 2026 (\u001B[2J)'],
    ['orgId', 7],
    ['userId', 'ada@example.com'],
    ['sessionId', undefined],
    ['orgRevision', '2'],
    ['userRevision', 1.5],
    ['requestId', 1],
    ['reason', {}],
    ['data', []],
    ['actor', null],
    ['actor', { type: 'root', id: null, sessionId: null, email: null }],
    ['actor', { type: 'user', id: 7, sessionId: null, email: null }],
    ['actor', { type: 'user', id: userId, sessionId: 'x', email: null }],
  ])('has no event with another %s: %j', async (field, value) => {
    await expect(read(`${JSON.stringify({ ...events[0], [field]: value })}\n`)).rejects.toThrow(refusal(1));
  });

  it('may have events of every type', async () => {
    const all = EVENT_TYPES.map((type) => Object.assign({}, events[0], { type }));
    const found = await read(all.map((event) => `${JSON.stringify(event)}\n`).join(''));
    expect(found.map(({ event }) => event)).toEqual(all);
  });

  it('may have events of types that this version does not know', async () => {
    const later = { ...events[0], type: 'account.teleported', more: 1 };
    expect(await read(`${JSON.stringify(later)}\n`)).toEqual([{ line: 1, event: later }]);
  });

  it('says that a file cannot be read', async () => {
    const at = join(directory, 'none.jsonl');
    await expect(readAll(at)).rejects.toThrow(/^the file cannot be read: ENOENT/);
    await expect(readAll(directory)).rejects.toThrow(`${directory} is a directory`);
  });
});
