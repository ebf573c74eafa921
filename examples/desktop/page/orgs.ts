import { unwrap } from 'accounts-client';
import { showUser } from './frame.ts';
import type { Screen } from './screens.ts';
import { onClick, onSubmit, part, screenOf, setRows, setText } from './view.ts';

const EVERYTHING = ['roles', 'account', 'profile', 'requirements'] as const;

/** The first screen, which needs no network: `orStale` returns the last answer, and the roles in it decide nothing. */
export const orgs: Screen<'orgs'> = async ({ client, go }) => {
  const screen = screenOf('orgs');
  const answer = await client.getMe({ include: [...EVERYTHING] }, { orStale: true });
  const { user, orgs: list } = unwrap(answer);
  const stale = answer.ok ? answer.stale : undefined;
  showUser(user.profile?.name ?? user.email);
  part(screen, 'offline').hidden = !stale;
  if (stale) setText(screen, { since: `Offline, as of ${new Date(stale.at).toLocaleString()}.` });
  part(screen, 'unverified').hidden = user.emailVerified !== false;
  part(screen, 'empty').hidden = list.length > 0;
  onClick(screen, 'again', () => go({ at: 'orgs' }));
  onClick(screen, 'verify', () => go({ at: 'verify' }));
  setRows(screen, 'list', list, (row, { id, name, role, suspended, secondFactorRequiredFrom: from }) => {
    const due = from ? `Requires two-factor authentication from ${new Date(from).toLocaleDateString()}` : '';
    const state = suspended ? 'Suspended: turn on two-factor authentication' : due;
    setText(row, { open: name, role: role!, state });
    onClick(row, 'open', () => go(suspended ? { at: 'security' } : { at: 'org', orgId: id }));
  });
  onSubmit(screen, 'create', { orgName: '' }, 'Create', async ({ orgName }) => {
    const { org } = unwrap(await client.createOrg({ name: orgName }));
    return go({ at: 'org', orgId: org.id });
  });
  return screen;
};
