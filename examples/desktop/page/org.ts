import { type DataOf, pages, unwrap } from 'accounts-client';
import { invite, requireSecondFactor } from './org-settings.ts';
import { changeWithFixes } from './remedies.ts';
import type { App, Screen } from './screens.ts';
import { attempt, onClick, part, screenOf, setRows, setText } from './view.ts';

type Member = DataOf<'listMembers'>['members'][number];

export const org: Screen<'org'> = async (app, { orgId }) => {
  const { client, desktop, go } = app;
  const screen = screenOf('org');
  const [self, detail, members] = await Promise.all([
    client.getMember({ orgId, userId: 'me' }).then(unwrap),
    client.getOrg({ orgId, include: ['requirements'] }).then(unwrap),
    allMembers(client, orgId),
  ]);
  const { role, userId: myId } = self.member;
  const reload = (): Promise<undefined> => go({ at: 'org', orgId });
  const change = changeWithFixes(app, screen, orgId);
  setText(screen, { name: detail.org.name, role: `You are ${role} here.` });
  onClick(screen, 'back', () => go({ at: 'orgs' }));

  setRows(screen, 'members', members, (row, member) => {
    const { userId } = member;
    const name = member.profile?.name ?? member.email;
    const select = part(row, 'role') as HTMLSelectElement;
    setText(row, { name, email: member.email });
    Object.assign(select, { value: member.role, ariaLabel: `Role of ${name}`, disabled: role === 'member' });
    select.addEventListener('change', () => {
      const chosen = select.value as Member['role'];
      select.value = member.role;
      const input = { orgId, userId, role: chosen, remedy: true };
      void attempt(select.closest('section')!, () => change(() => client.changeMemberRole(input), reload));
    });
    Object.assign(part(row, 'remove'), {
      ariaLabel: `Remove ${name}`,
      hidden: role === 'member' || userId === myId,
    });
    onClick(row, 'remove', async () => {
      if (!confirm(`Remove ${name} from ${detail.org.name}?`)) return;
      await change(() => client.removeMember({ orgId, userId, remedy: true }), reload);
    });
  });
  onClick(screen, 'leave', async () => {
    if (!confirm(`Leave ${detail.org.name}?`)) return;
    await change(
      () => client.leaveOrg({ orgId, remedy: true }),
      () => go({ at: 'orgs' }),
    );
  });
  onClick(screen, 'enter', async () => {
    const answer = await desktop.enterEngineRoom(orgId);
    if (!answer.ok) throw new Error(answer.problem.detail, { cause: answer.problem });
    setText(screen, { visit: `The engine room admits ${answer.email} as ${answer.role}.` });
  });
  await invite(app, screen, orgId, role !== 'member');
  requireSecondFactor(app, screen, detail.org, role === 'owner');
  return screen;
};

async function allMembers(client: App['client'], orgId: string): Promise<Member[]> {
  const members: Member[] = [];
  const all = pages(client.listMembers, { orgId, include: ['profile'], limit: 1000 });
  for await (const page of all) members.push(...unwrap(page).members);
  return members;
}
