export interface Unnumbered {
  id: string;
  orgId: string | null;
  orgRevision: number | null;
  userId: string | null;
  userRevision: number | null;
}

type Subject = string;

function revisionsOf({ orgId, orgRevision, userId, userRevision }: Unnumbered): [Subject, number][] {
  const revisions: [Subject, number][] = [];
  if (orgId !== null && orgRevision !== null) revisions.push([`org ${orgId}`, orgRevision]);
  if (userId !== null && userRevision !== null) revisions.push([`user ${userId}`, userRevision]);
  return revisions;
}

/** The highest revision of each organization and each user among the events. */
export class Revisions {
  private readonly highest = new Map<Subject, number>();

  constructor(events: Iterable<Unnumbered>) {
    for (const event of events) {
      for (const [subject, revision] of revisionsOf(event)) {
        this.highest.set(subject, Math.max(revision, this.highest.get(subject) ?? revision));
      }
    }
  }

  get subjects(): number {
    return this.highest.size;
  }

  /** Returns whether one of the events has to come after this one. */
  goBeyond(event: Unnumbered): boolean {
    return revisionsOf(event).some(
      ([subject, revision]) => revision < (this.highest.get(subject) ?? revision),
    );
  }
}

// Orders events by id, and so by the clocks of the instances that made them. Events of an organization follow its revision
// instead, and events of a user their revision: no clock decides there.
export function inFeedOrder<Event extends Unnumbered>(events: readonly Event[]): Event[] {
  const byId = events.toSorted((one, other) => compare(one.id, other.id));
  const before = predecessors(byId);
  const ordered = new Set<Event>();
  for (const event of byId) {
    // Without recursion, because a chain can be longer than the call stack allows.
    const stack = [event];
    const stacked = new Set(stack);
    while (stack.length > 0) {
      const last = stack.at(-1)!;
      const next = (before.get(last) ?? []).find((one) => !ordered.has(one) && !stacked.has(one));
      if (next) {
        stack.push(next);
        stacked.add(next);
      } else {
        ordered.add(last);
        stack.pop();
      }
    }
  }
  return [...ordered];
}

/** The event directly before each one in the chain of its organization, and of its user. */
function predecessors<Event extends Unnumbered>(byId: readonly Event[]): Map<Event, Event[]> {
  const chains = new Map<Subject, { event: Event; revision: number }[]>();
  for (const event of byId) {
    for (const [subject, revision] of revisionsOf(event)) {
      const chain = chains.get(subject);
      if (chain) chain.push({ event, revision });
      else chains.set(subject, [{ event, revision }]);
    }
  }
  const before = new Map<Event, Event[]>();
  for (const chain of chains.values()) {
    // The sort is stable: within a revision, which is one transaction, ids decide.
    chain.sort((one, other) => one.revision - other.revision);
    for (const [place, { event }] of chain.entries()) {
      const previous = chain[place - 1]?.event;
      if (previous) before.set(event, [...(before.get(event) ?? []), previous]);
    }
  }
  return before;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
