import type { Event } from '../../events/event.entity.js';
import type { AuditEvent } from '../../events/events.responses.js';
import { wholeEvent } from '../../events/events.service.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { parseTime } from '../../identifiers/text.js';
import { CannotRunError } from '../command/definition.js';
import { asRow, jsonOf, linesOf, openFile, textOf } from '../import/records.js';

/** A line of a copy of the audit log. A copy of another version can have types that this version does not know. */
export type CopiedEvent = Omit<AuditEvent, 'ip' | 'userEmail'>;

/** A line begins like this one, with another id. */
const BEGINNING = '{"id":"00000000-0000-7000-8000-000000000000","type":"';
const BEGINNING_FORM = /^\{"id":"[\da-f-]{36}","type":"$/;
const TYPE = /^[a-z_]+\.[a-z_]+$/;

export function copiedEvent(event: Event): CopiedEvent {
  const { ip: _ip, ...rest } = wholeEvent(event);
  return rest;
}

/** Reads a copy line by line, in constant memory, without a torn last line. @throws CannotRunError */
export async function* readCopy(file: string): AsyncGenerator<{ line: number; event: CopiedEvent }> {
  for await (const { line, bytes, hasEnd } of linesOf(await openFile(file))) {
    if (!hasEnd && (line > 1 || isTorn(bytes))) return;
    const event = parseCopied(bytes);
    if (!event) throw new CannotRunError(`${file}, line ${line}: not an event of a copy of the audit log`);
    yield { line, event };
  }
}

/** Tells the beginning of a first line from another file without a line feed. */
export function isTorn(bytes: Buffer | undefined): boolean {
  const present = bytes?.toString('latin1', 0, BEGINNING.length) ?? 'a line that is too long';
  return BEGINNING_FORM.test(present + BEGINNING.slice(present.length));
}

export function parseCopied(bytes: Buffer | undefined): CopiedEvent | undefined {
  const value = jsonOf(bytes && textOf(bytes));
  return isCopied(value) ? value : undefined;
}

function isCopied(value: unknown): value is CopiedEvent {
  const event = asRow(value);
  const actor = asRow(event?.['actor']);
  if (!event || !actor || !asRow(event['data'])) return false;
  const { id, type, at, orgId, orgRevision, userId, userRevision, sessionId, requestId, reason } = event;
  const isTextOrNull = (text: unknown): boolean => text === null || typeof text === 'string';
  return (
    isEntityId(id) &&
    typeof type === 'string' &&
    TYPE.test(type) &&
    parseTime(at) !== undefined &&
    ['user', 'operator', 'system'].some((kind) => kind === actor['type']) &&
    [orgId, userId, sessionId, actor['sessionId']].every((one) => one === null || isEntityId(one)) &&
    [orgRevision, userRevision].every((one) => one === null || Number.isSafeInteger(one)) &&
    [actor['id'], actor['email'], requestId, reason].every(isTextOrNull)
  );
}
