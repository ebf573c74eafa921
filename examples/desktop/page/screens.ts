import type { PageClient } from 'accounts-client/electron/page';
import type { Desktop } from '../bridge.ts';

/** The states of the program. README.md draws the ways between them. */
export type Shown = { notice?: string } & (
  | { at: 'logIn' }
  | { at: 'secondStep'; challenge: string }
  | { at: 'provider'; provider: string }
  | { at: 'register' }
  | { at: 'resetPassword' }
  | { at: 'verify' }
  | { at: 'orgs' }
  | { at: 'org'; orgId: string }
  | { at: 'invitations' }
  | { at: 'profile' }
  | { at: 'security' }
);
export type At = Shown['at'];

export interface App {
  readonly client: PageClient;
  readonly desktop: Desktop;
  /** The code of a link that the user opened, until the user has decided on the invitation. */
  invitation: string | undefined;
  /** Shows another screen, or the same one again. */
  readonly go: (next: Shown) => Promise<undefined>;
  /** Shows the first screen of a user who is logged in. */
  readonly enter: () => Promise<undefined>;
}

/** Loads what a screen shows, and returns its elements. It throws what `unwrap` throws. */
export type Screen<Name extends At> = (app: App, shown: Extract<Shown, { at: Name }>) => Promise<HTMLElement>;
export type Screens = { readonly [Name in At]: Screen<Name> };
