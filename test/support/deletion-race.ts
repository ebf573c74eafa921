import type { Answer } from './answer.js';
import { atOnce } from './at-once.js';
import type { Database } from './database.js';
import { accept, anInvitation, verified, decline, type Invitation, registerWith } from './inviting.js';
import { type Account, anAccount, anEmail, anOrgOf, type Org } from './personas.js';
import type { Service } from './service.js';

type Guest = { email: string; answer: (invitation: Invitation & { code: string }) => Promise<Answer> };

interface Race {
  db: Database;
  answering: Service;
  deleting: Service;
  round: number;
  /** until what was committed can be read by `db` */
  settle: () => Promise<void>;
}

interface Way {
  guest: (race: Race) => Guest | Promise<Guest>;
  /** both statuses, the record of the organization, the end of the invitation, and what became of the guest */
  answerFirst: string;
  deletionFirst: string;
}

async function aVerifiedGuest({ db, answering, settle }: Race): Promise<Account> {
  const guest = await anAccount(answering, 'guest');
  await settle();
  return verified(db, guest);
}

const JOINED = 'invitation.accepted member.added | org.deleted / accepted / joined';
const REVOKED = '200 / invitation.revoked org.deleted / revoked';

const WAYS: Way[] = [
  {
    guest: async (race) => {
      const guest = await aVerifiedGuest(race);
      return { email: guest.email, answer: (invitation) => accept(guest, invitation) };
    },
    answerFirst: `200 / 200 / ${JOINED}`,
    deletionFirst: `409 / ${REVOKED} / apart`,
  },
  {
    guest: async ({ answering }) => {
      const guest = await anAccount(answering, 'guest');
      return { email: guest.email, answer: (invitation) => accept(guest, invitation, invitation.code) };
    },
    answerFirst: `200 / 200 / ${JOINED}`,
    deletionFirst: `409 / ${REVOKED} / apart`,
  },
  {
    guest: ({ answering }) => {
      const email = anEmail('guest');
      return { email, answer: ({ code }) => registerWith(answering, email, code) };
    },
    answerFirst: `201 / 200 / ${JOINED}`,
    deletionFirst: `400 / ${REVOKED} / no account`,
  },
  {
    guest: async (race) => {
      const guest = await aVerifiedGuest(race);
      return { email: guest.email, answer: (invitation) => decline(guest, invitation) };
    },
    answerFirst: '200 / 200 / invitation.declined | org.deleted / declined / apart',
    deletionFirst: `409 / ${REVOKED} / apart`,
  },
];

/** What came first, when an invitation was answered while its organization was deleted, as answers and rows agree on it. */
export async function raceWithDeletion(race: Race): Promise<string> {
  const { db, deleting, round, settle } = race;
  const { guest: prepare, answerFirst, deletionFirst } = WAYS[round % WAYS.length]!;
  const { email, answer } = await prepare(race);
  const owner = await anAccount(deleting, 'owner');
  const org = await anOrgOf(owner);
  const invitation = await anInvitation(owner, org, { email });
  await settle();
  // In turn at once, and either a request later: otherwise one might always be first.
  const later = Math.floor(round / WAYS.length) % 3;
  const inTurn = (turn: number, send: () => Promise<Answer>) => async () => {
    if (later === turn) await deleting.anyone.get('/health/live');
    return send();
  };
  const [answered, deleted] = await atOnce([
    inTurn(1, () => answer(invitation)),
    inTurn(2, () => owner.delete(`/api/orgs/${org.id}`)),
  ]);
  await settle();
  const found = [answered!.status, deleted!.status, await stateOf(db, org, email)].join(' / ');
  if (found === answerFirst) return 'answer';
  return found === deletionFirst ? 'deletion' : found;
}

/** The events of each change since the invitation, how that ended, and what became of who was invited. */
async function stateOf(db: Database, { id }: Org, email: string): Promise<string> {
  const events = await db.query(
    'SELECT type, org_revision FROM events WHERE org_id = ? AND org_revision > 2 ORDER BY org_revision, type',
    [id],
  );
  const changes = Map.groupBy(events, ({ org_revision: revision }) => revision).values();
  const [invitation] = await db.query('SELECT status FROM invitations WHERE org_id = ?', [id]);
  const [user] = await db.query(
    `SELECT (SELECT COUNT(*) FROM members m WHERE m.user_id = u.id AND m.org_id = ?) AS memberships
      FROM users u WHERE u.email = ?`,
    [id, email],
  );
  const guest = user ? (Number(user['memberships']) === 1 ? 'joined' : 'apart') : 'no account';
  const recorded = [...changes].map((change) => change.map(({ type }) => type).join(' ')).join(' | ');
  return [recorded, invitation?.['status'], guest].join(' / ');
}
