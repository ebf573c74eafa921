import { firstEntityIdAt, timeOfEntityId } from '../identifiers/entity-id.js';
import { GROUP_OF_KIND, type Mail, type MailKind, type MailPriority } from './mail.entity.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** After `mails` in a day, allows one per pause or, without a pause, none until the first is a day old. */
interface Limit {
  by: readonly ('recipient' | 'sender_id' | 'org_id')[];
  mails: number;
  pauseMs?: number;
  refusal: string;
}

interface Group {
  priority: MailPriority;
  limits: readonly Limit[];
}

const TOO_MANY_MAILS = 'Too many emails to this address today; try again later.';
const TOO_MANY_CHANGES = 'Too many changes of your email today; try again later.';
export const TOO_MANY_INVITATIONS =
  'You or this organization sent too many invitations, or this email received too many, in the last day; try again later.';

const BY_ALL: Limit = { by: ['recipient'], mails: 10, pauseMs: HOUR_MS, refusal: TOO_MANY_MAILS };
const BY_SENDER: Limit = { ...BY_ALL, by: ['recipient', 'sender_id'], mails: 5 };
/** The pause is the lifetime of a code, so that a mailbox either has a valid code or gets one. */
const CODES_BY_ALL: Limit = { ...BY_ALL, pauseMs: 15 * MINUTE_MS };
const CHANGES: Limit = { by: ['sender_id'], mails: 20, pauseMs: HOUR_MS, refusal: TOO_MANY_CHANGES };
const SIGN_INS: Limit = { by: ['sender_id'], mails: 5, refusal: TOO_MANY_MAILS };
const inADay = (mails: number, ...by: Limit['by']): Limit => ({ by, mails, refusal: TOO_MANY_INVITATIONS });

const GROUPS = {
  ownCode: { priority: 0, limits: [BY_SENDER, CODES_BY_ALL] },
  /** The user has logged in from the sender's IP address, so emails that others requested do not count. */
  ownCodeToKnownClient: { priority: 0, limits: [BY_SENDER] },
  setup: { priority: 1, limits: [BY_SENDER, BY_ALL] },
  emailChange: { priority: 1, limits: [BY_SENDER, BY_ALL, CHANGES] },
  notice: { priority: 1, limits: [BY_SENDER, BY_ALL] },
  newSignIn: { priority: 1, limits: [SIGN_INS] },
  invitation: {
    priority: 2,
    limits: [
      inADay(5, 'recipient', 'org_id'),
      inADay(5, 'recipient', 'sender_id'),
      inADay(25, 'recipient'),
      inADay(100, 'sender_id'),
      inADay(100, 'org_id'),
    ],
  },
} as const satisfies Record<string, Group>;

export function priorityOf(kind: MailKind): MailPriority {
  return GROUPS[GROUP_OF_KIND[kind]].priority;
}

export type LimitedMail = Pick<Mail, 'kind' | 'recipient' | 'senderId' | 'orgId'>;

const conditionsOf = ({ by }: Limit): string => `${by.map((column) => `${column} = ?`).join(' AND ')}
  AND id > ? AND id < ? AND kind = ? AND (code_id IS NOT NULL OR kind <> 'password_reset')`;

/** If the limit is reached, selects the email whose age decides: the latest or, without a pause, the first that counts. */
const decidingMail = (limit: Limit): string =>
  limit.pauseMs === undefined
    ? `SELECT id FROM mails WHERE ${conditionsOf(limit)} ORDER BY id DESC LIMIT 1 OFFSET ${limit.mails - 1}`
    : `SELECT MAX(id) FROM mails WHERE ${conditionsOf(limit)} HAVING COUNT(*) >= ${limit.mails}`;

export interface Excess {
  waitMs: number;
  refusal: string;
}

/** Counts rows, so that all instances agree and no count reveals whether an email has an account. */
export async function findExcess(
  query: (sql: string, values: unknown[]) => Promise<Record<string, string | null>[]>,
  mail: LimitedMail,
  now: number,
  { isKnownClient = false, beforeId = 'g' }: { isKnownClient?: boolean; beforeId?: string } = {},
): Promise<Excess | undefined> {
  const name = isKnownClient ? 'ownCodeToKnownClient' : GROUP_OF_KIND[mail.kind];
  const { limits }: Group = GROUPS[name];
  const keys = { recipient: mail.recipient, sender_id: mail.senderId, org_id: mail.orgId };
  const values = limits.flatMap(({ by }) => [
    ...by.map((column) => keys[column]),
    firstEntityIdAt(now - DAY_MS),
    beforeId,
    mail.kind,
  ]);
  const ids = limits.map((limit, index) => `(${decidingMail(limit)}) AS id${index}`);
  const [row] = await query(`SELECT ${ids.join(', ')}`, values);
  return limits
    .map(({ pauseMs = DAY_MS, refusal }, index) => {
      const id = row![`id${index}`];
      return { waitMs: id ? timeOfEntityId(id) + pauseMs - now : 0, refusal };
    })
    .filter(({ waitMs }) => waitMs > 0)
    .toSorted((one, other) => other.waitMs - one.waitMs)[0];
}
