import { Fifo } from './fifo.ts';
import type { BenchOrg, BenchUser, Fixture } from '../fixture/fixture.ts';

/** A guest of a changing organization, in it or not. */
export interface Membership {
  org: BenchOrg;
  keeper: BenchUser;
  user: BenchUser;
  role: 'member' | 'admin';
}

/** Somebody who is to join a changing organization. */
export type Invitee = Omit<Membership, 'role'>;

export interface Invited extends Invitee {
  /** of the invitation */
  id: string;
  code: string;
}

/** The driver's state of one server: every operation takes its material from here. */
export class Side {
  readonly url: string;
  readonly fixture: Fixture;
  readonly codes = new Fifo<{ code: string; user: BenchUser }>();
  readonly refreshTokens = new Fifo<{ refreshToken: string; user: BenchUser }>();
  /** access tokens of refreshes, each to be used once */
  readonly unusedTokens = new Fifo<{ token: string; user: BenchUser }>();
  /** neighbours are of different organizations and different users, so requests in flight seldom meet */
  readonly present: Fifo<Membership>;
  readonly absent: Fifo<Membership>;
  readonly invitees: Fifo<Invitee>;
  readonly invited = new Fifo<Invited>();
  private readonly tokens = new Map<string, string>();

  constructor(url: string, fixture: Fixture) {
    this.url = url;
    this.fixture = fixture;
    const { changingOrgs, keepers, guests, creators } = fixture;
    const membership = (index: number, user: BenchUser): Membership => ({
      org: changingOrgs[index]!,
      keeper: keepers[index]!,
      user,
      role: 'member',
    });
    const places = [...(changingOrgs[0]?.members.keys() ?? [])].slice(1);
    this.present = new Fifo(
      places.flatMap((place) =>
        changingOrgs.map((org, index) => membership(index, org.members[place]!.user)),
      ),
    );
    const strangers = (people: readonly BenchUser[]): Membership[] =>
      people.flatMap((_, first) =>
        changingOrgs.map((__, index) => membership(index, people[(first + index) % people.length]!)),
      );
    this.absent = new Fifo(strangers(guests));
    this.invitees = new Fifo(strangers(creators));
  }

  keepToken(user: BenchUser, token: string): void {
    this.tokens.set(user.id, token);
  }

  tokenOf(user: BenchUser): string {
    const token = this.tokens.get(user.id);
    if (token === undefined) throw new Error(`${user.email} has not logged in`);
    return token;
  }
}
