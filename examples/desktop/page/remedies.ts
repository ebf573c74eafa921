import { type ProblemOf, type ResultOf, unwrap } from 'accounts-client';
import { explain } from './explain.ts';
import type { App } from './screens.ts';
import { attempt, part, setRows, setText } from './view.ts';

type Change = 'changeMemberRole' | 'removeMember' | 'leaveOrg' | 'createInvitation' | 'updateOrg';
type Fix = [label: string, take: () => Promise<unknown>];

/** Makes changes of an organization. If a refusal names a way out (`remedy`), the user gets a button for it. */
export function changeWithFixes(app: App, screen: HTMLElement, orgId: string) {
  return async function change(
    act: () => Promise<ResultOf<Change>>,
    after: () => Promise<unknown>,
  ): Promise<void> {
    const result = await act();
    if (result.ok) return void (await after());
    const fixes = fixesOf(app, orgId, result.problem, () => change(act, after));
    if (fixes.length === 0) unwrap(result);
    setText(screen, { refusal: explain(result.problem) });
    setRows(screen, 'fixes', fixes, (row, [label, take]) => {
      row.textContent = label;
      row.addEventListener('click', () => void attempt(part(screen, 'suggestion'), take));
    });
    part(screen, 'suggestion').hidden = false;
    part(screen, 'fix').focus();
  };
}

/** @param repeat makes the refused change again */
function fixesOf({ client, go }: App, orgId: string, problem: ProblemOf<Change>, repeat: Fix[1]): Fix[] {
  const { code } = problem;
  if (code === 'last_owner') {
    return (problem.remedy?.candidates ?? []).map(({ email, userId }): Fix => [
      `Make ${email} an owner`,
      async () => {
        unwrap(await client.changeMemberRole({ orgId, userId, role: 'owner' }));
        await repeat();
      },
    ]);
  }
  if (code === 'already_invited' && problem.remedy) {
    const { invitationId } = problem.remedy;
    const resend = async (): Promise<void> => {
      unwrap(await client.resendInvitation({ orgId, invitationId }));
      await go({ at: 'org', orgId, notice: 'The invitation was sent again.' });
    };
    return [['Send the invitation again', resend]];
  }
  const lacksFactor = code === 'second_factor_not_enabled' || code === 'second_factor_required_by_org';
  return lacksFactor ? [['Turn on two-factor authentication', () => go({ at: 'security' })]] : [];
}
