import { setTimeout as sleep } from 'node:timers/promises';
import { type Role, ROLES } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { entityIdFor, isEntityId } from '../../identifiers/entity-id.js';
import { oneLine } from '../../identifiers/text.js';
import { OrgImport } from '../../orgs/org-import.js';
import { MAX_ORG_NAME } from '../../orgs/state/org.entity.js';
import { normalizedEmail } from '../../users/email-address.js';
import { withContext } from '../command/context.js';
import { CannotRunError, type Invocation, type Report } from '../command/definition.js';
import { columnsIn, rowsOfCsv } from './csv.js';
import { Refused, unknownField } from './format.js';
import { readJsonLine } from './jsonl.js';
import { linesOf, openFile, type Row, textOf } from './records.js';

const COLUMNS = ['org', 'email', 'role', 'id'];
const MAX_ID = 200;

interface MemberLine {
  line: number;
  email: string;
  role: Role;
}

interface FileOrg {
  id: string;
  name: string;
  hasId: boolean;
  rows: Map<string, MemberLine>;
}

type Refusal = { where: string; names: object; code: Refused['code']; field?: string | undefined };

/** A second run adds what is missing, because the ids follow from the file. */
export async function importOrgs(invocation: Invocation): Promise<Report> {
  const isDryRun = invocation.flag('dryRun');
  const actor = invocation.operator();
  const progress = { created: 0, added: 0, skipped: 0, refused: 0 };
  const textOfProgress = (prefix: string): string =>
    `${prefix}created ${progress.created} organizations, added ${progress.added} members, ` +
    `skipped ${progress.skipped} that are members already, refused ${progress.refused}`;
  const refuse = async ({ where, names, code, field }: Refusal, lines = 1): Promise<void> => {
    progress.refused += lines;
    const { reason } = new Refused(code, field);
    await invocation.print(`${where}: ${reason} (${code})`, { ...names, refused: code, field, reason });
  };
  const orgs = await readOrgs(await openFile(invocation.parameters[0]!), refuse);
  return withContext(async (context) => {
    const service = context.get(OrgImport);
    const { engine } = context.get(Env).database;
    try {
      for (const [index, { rows, ...org }] of orgs.entries()) {
        const began = performance.now();
        const members = [...rows.values()];
        const outcome = await service.import({ ...org, members }, actor, !isDryRun);
        if (outcome.isCreated) progress.created += 1;
        let refusedLines = members.length;
        for (const [at, { line, email }] of members.entries()) {
          const code = outcome.members[at]!;
          if (code === 'present' || code === 'added') {
            if (outcome.refused === undefined) progress[code === 'added' ? 'added' : 'skipped'] += 1;
            continue;
          }
          refusedLines -= 1;
          const where = `line ${line}, ${email} in ${org.name}`;
          await refuse({ where, names: { line, email, org: org.name }, code });
        }
        if (outcome.refused !== undefined)
          await refuse(
            { where: org.name, names: { org: org.name, id: org.id }, code: outcome.refused },
            refusedLines,
          );
        invocation.showProgress(`${index + 1} of ${orgs.length} organizations`);
        // A service on the same SQLite file gets as much time as the import.
        if (engine === 'sqlite' && !isDryRun) await sleep(performance.now() - began);
      }
    } catch (error) {
      await invocation.print(textOfProgress('stopped: '), { ...progress, stopped: true });
      throw error;
    }
    return {
      lines: [textOfProgress(isDryRun ? 'dry run: would have ' : '')],
      json: [{ ...progress, ...(isDryRun && { dryRun: true }) }],
      isRed: progress.refused > 0,
    };
  });
}

/** Reads the whole file, because the lines of an organization may stand anywhere. */
async function readOrgs(
  chunks: AsyncIterable<Buffer>,
  refuse: (refusal: Refusal, lines?: number) => Promise<void>,
): Promise<FileOrg[]> {
  const orgs = new Map<string, FileOrg>();
  let lines = 0;
  for await (const { line, row } of rowsIn(chunks)) {
    lines += 1;
    const read = row instanceof Refused ? row : readRow(row, orgs);
    if (read instanceof Refused) {
      const email = row instanceof Refused ? undefined : normalizedEmail(row['email']);
      const where = [`line ${line}`, email].filter(Boolean).join(', ');
      await refuse({ where, names: { line, email }, code: read.code, field: read.field });
      continue;
    }
    read.org.rows.set(read.email, { line, email: read.email, role: read.role });
  }
  if (lines === 0) throw new CannotRunError('the file has no organizations');
  const byName = Map.groupBy(orgs.values(), ({ name }) => name);
  const chosen: FileOrg[] = [];
  for (const org of orgs.values()) {
    if (org.hasId || byName.get(org.name)!.length === 1) chosen.push(org);
    else await refuse({ where: org.name, names: { org: org.name }, code: 'id_needed' }, org.rows.size);
  }
  return chosen;
}

/** JSON Lines begin with a brace. */
async function* rowsIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<{ line: number; row: Row | Refused }> {
  let read: ((line: Buffer) => Row | Refused | undefined) | undefined;
  for await (const { line, bytes } of linesOf(chunks)) {
    if (bytes?.toString().trim() === '') continue;
    const isJson = bytes && (textOf(bytes) ?? '').trimStart().startsWith('{');
    if (bytes) read ??= isJson ? readJsonLine : rowsOfCsv(columnsOf, (_, cell) => cell || undefined);
    const row = bytes && read ? read(bytes) : new Refused('line_too_long');
    if (row !== undefined) yield { line, row };
  }
}

function columnsOf(cells: string[] = []): string[] {
  return columnsIn(cells, COLUMNS, ['org', 'email', 'role']);
}

function readRow(
  row: Row,
  orgs: Map<string, FileOrg>,
): { org: FileOrg; email: string; role: Role } | Refused {
  const unknown = Object.keys(row).find((name) => !COLUMNS.includes(name));
  if (unknown !== undefined) return unknownField(unknown);
  const name = oneLine(row['org'], MAX_ORG_NAME);
  if (name === undefined) return new Refused('invalid_org', 'org');
  const email = normalizedEmail(row['email']);
  if (email === undefined) return new Refused('invalid_email', 'email');
  const role = ROLES.find((one) => one === row['role']);
  if (role === undefined) return new Refused('invalid_role', 'role');
  const rawId = row['id'] ?? undefined;
  const foreignId = oneLine(typeof rawId === 'number' ? String(rawId) : rawId, MAX_ID);
  if (rawId !== undefined && foreignId === undefined) return new Refused('invalid_org_id', 'id');

  const id = orgIdOf(name, foreignId);
  const org = orgs.get(id) ?? { id, name, hasId: foreignId !== undefined, rows: new Map() };
  if (org.name !== name) return new Refused('id_of_another_org', 'id');
  const earlier = org.rows.get(email);
  if (earlier && earlier.role !== role) return new Refused('second_role', 'email');
  orgs.set(id, org);
  return { org, email, role };
}

/** A UUID stays, as that of a user does, so that services find what they have stored by it. */
function orgIdOf(name: string, foreignId: string | undefined): string {
  if (foreignId === undefined) return entityIdFor(`org:${name}`);
  return isEntityId(foreignId.toLowerCase()) ? foreignId.toLowerCase() : entityIdFor(`id:${foreignId}`);
}
