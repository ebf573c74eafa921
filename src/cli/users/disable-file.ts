import { UserOperations } from '../../accounts/user-operations.js';
import { Problem } from '../../problems/problem.js';
import { normalizedEmail } from '../../users/email-address.js';
import { UsersRepository } from '../../users/users.repository.js';
import { type Context, withContext } from '../command/context.js';
import { CannotRunError, type Invocation, type Report } from '../command/definition.js';
import { explain } from '../command/explain.js';
import { linesOf, openFile, textOf } from '../import/records.js';
import { disableUser, orphanedLine, orphansOf, type NamedOrphan } from './change-user.js';

type LineOutcome =
  | { kind: 'disabled'; orphaned: NamedOrphan[] }
  | { kind: 'unchanged' }
  | { kind: 'refused'; why: string };

export async function disableUsers(invocation: Invocation): Promise<Report> {
  const file = invocation.text('file');
  const isDryRun = invocation.flag('dryRun');
  if (file !== undefined) return disableAllIn(file, invocation, isDryRun);
  if (isDryRun) throw new CannotRunError('--dry-run is known with --file only');
  return disableUser(invocation);
}

/** One user in a transaction: the others stay disabled if one is rejected or the command is interrupted. */
async function disableAllIn(file: string, invocation: Invocation, isDryRun: boolean): Promise<Report> {
  const chunks = await openFile(file);
  const counts = { disabled: 0, unchanged: 0, refused: 0 };
  const seen = new Set<string>();
  return withContext(async (context) => {
    for await (const { line, bytes } of linesOf(chunks)) {
      const text = bytes && textOf(bytes)?.trim();
      if (text === '') continue;
      const email = normalizedEmail(text);
      const outcome = await disableOne(context, email, { invocation, isDryRun, seen });
      counts[outcome.kind] += 1;
      if (outcome.kind === 'refused') {
        const named = email === undefined ? '' : ` ${email}:`;
        await invocation.print(`line ${line}:${named} ${outcome.why}`, { line, email, refused: outcome.why });
      }
      if (outcome.kind === 'disabled')
        for (const org of outcome.orphaned)
          await invocation.print(orphanedLine(org), { line, email, orphanedOrg: org });
    }
    if (counts.disabled + counts.unchanged + counts.refused === 0)
      throw new CannotRunError('the file has no emails');
    const { disabled, unchanged, refused } = counts;
    const summary = `disabled ${disabled}, already disabled ${unchanged}, refused ${refused}`;
    return {
      lines: [isDryRun ? `dry run: would have ${summary}` : summary],
      json: [{ ...counts, ...(isDryRun && { dryRun: true }) }],
      isRed: refused > 0,
    };
  });
}

interface FileRun {
  invocation: Invocation;
  isDryRun: boolean;
  seen: Set<string>;
}

async function disableOne(
  context: Context,
  email: string | undefined,
  { invocation, isDryRun, seen }: FileRun,
): Promise<LineOutcome> {
  if (email === undefined) return { kind: 'refused', why: 'not an email address' };
  if (seen.has(email)) return { kind: 'unchanged' };
  seen.add(email);
  const user = await context.get(UsersRepository).findByEmail(email);
  if (!user) return { kind: 'refused', why: 'there is no user with this email' };
  try {
    const left = await context.get(UserOperations).disable(user.id, { ...invocation.change(), isDryRun });
    if (left.kind !== 'done') return { kind: 'unchanged' };
    return { kind: 'disabled', orphaned: await orphansOf(context, left) };
  } catch (error) {
    const { lines, isRefusal } = explain(error);
    if (!isRefusal || !(error instanceof Problem)) throw error;
    return { kind: 'refused', why: lines[0]!.replace('refused: ', '') };
  }
}
