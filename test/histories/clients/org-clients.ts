import type { Random } from '../../faults/support/random.js';
import type { Role } from '../../support/personas.js';
import { asRecord, asString } from '../../support/service-client.js';
import { readOrg } from './org-reads.js';
import type { Recorder } from './recorder.js';
import {
  addition,
  changeOrg,
  type OpenInvitation,
  type Person,
  removal,
  roleChange,
  type Team,
} from './team.js';

const LOW_ROLES: readonly Role[] = ['member', 'admin'];

export type Step = () => Promise<void>;

/** An owner who changes the organization in every way. */
export function anOwner(recorder: Recorder, random: Random, team: Team, owner: Person): Step {
  const { orgId } = team;
  const path = `/api/orgs/${orgId}/invitations`;
  let count = 0;
  const guest = (): Person => random.pick(team.guests);
  const change = (made: Parameters<typeof changeOrg>[4]) => changeOrg(recorder, random, team, owner, made);

  const rename = async (): Promise<void> => {
    const name = `Team ${owner.id.slice(-6)} ${(count += 1)}`;
    const request = { method: 'PATCH', path: `/api/orgs/${orgId}`, body: { name } };
    await change({ effect: { type: 'org.renamed', name }, request });
  };
  const invite = async (invited?: Person): Promise<void> => {
    const email = invited?.email ?? `invited-${(count += 1)}.${owner.email}`;
    const role = random.pick(LOW_ROLES);
    const request = { method: 'POST', path, body: { email, role, showCode: true } };
    const reply = await change({ effect: { type: 'invitation.created', role }, request });
    if (!reply) return;
    const { id, code } = asRecord(reply.body['invitation']);
    team.invitations.push({ id: asString(id), code: asString(code), guest: invited });
  };
  const resend = async ({ id, guest: invited }: OpenInvitation): Promise<void> => {
    const request = { method: 'POST', path: `${path}/${id}/resend`, body: { showCode: true } };
    const reply = await change({ effect: { type: 'invitation.resent', invitationId: id }, request });
    if (!reply) return;
    const code = asString(asRecord(reply.body['invitation'])['code']);
    team.invitations.push({ id, code, guest: invited });
  };
  const revoke = async ({ id }: OpenInvitation): Promise<void> => {
    const request = { method: 'DELETE', path: `${path}/${id}` };
    await change({ effect: { type: 'invitation.revoked', invitationId: id }, request });
  };

  return async () => {
    switch (random.between(0, 13)) {
      case 0:
      case 1:
      case 2:
        return rename();
      case 3:
      case 4:
        return void (await change(addition(team, guest(), random.pick(LOW_ROLES))));
      case 5:
      case 6:
        return void (await change(removal(team, guest())));
      case 7:
        return void (await change(roleChange(team, guest(), random.pick(LOW_ROLES))));
      case 8:
        return invite(guest());
      case 9:
        return withOne(random, team.invitations, resend);
      case 10:
      case 11:
        return withOne(random, team.invitations, revoke);
      default:
        return invite();
    }
  };
}

/** A guest who reads the organization all the time, joins by invitations, and leaves. */
export function aGuest(recorder: Recorder, random: Random, team: Team, guest: Person): Step {
  const answer = async ({ id, code }: OpenInvitation): Promise<void> => {
    const isAccepted = random.between(0, 2) > 0;
    const type = isAccepted ? 'invitation.accepted' : 'invitation.declined';
    const path = `/api/me/invitations/${isAccepted ? 'accept' : 'decline'}`;
    const request = { method: 'POST', path, body: { code } };
    await changeOrg(recorder, random, team, guest, { effect: { type, invitationId: id }, request });
  };
  return async () => {
    const turn = random.between(0, 19);
    if (turn === 0) return void (await changeOrg(recorder, random, team, guest, removal(team, guest)));
    const own = team.invitations.findIndex((one) => one.guest === guest);
    if (turn <= 3 && own >= 0) return answer(team.invitations.splice(own, 1)[0]!);
    return readOrg(random.pick(['detail', 'members']), recorder, random, team, guest);
  };
}

const LISTS = [
  'invitations',
  'invitations',
  'invitations',
  'invitations',
  'log',
  'detail',
  'members',
] as const;

/** Reads as an owner, above all what only admins and owners may read. */
export function aLister(recorder: Recorder, random: Random, team: Team): Step {
  return () => readOrg(random.pick(LISTS), recorder, random, team, random.pick(team.owners));
}

/** Takes an invitation out of the list, so that no other client works on it, unless it is one of these. */
async function withOne(
  random: Random,
  invitations: OpenInvitation[],
  work: (invitation: OpenInvitation) => Promise<void>,
): Promise<void> {
  if (invitations.length === 0) return;
  const [invitation] = invitations.splice(random.between(0, invitations.length - 1), 1);
  await work(invitation!);
}
