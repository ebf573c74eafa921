import { createPageClient } from 'accounts-client/electron/page';
import type { Desktop, ShownProblem } from '../bridge.ts';
import { explain } from './explain.ts';
import { mount, onBar, showBar } from './frame.ts';
import { invitations } from './invitations.ts';
import { logIn, provider, secondStep } from './log-in.ts';
import { org } from './org.ts';
import { orgs } from './orgs.ts';
import { profile } from './profile.ts';
import { register, resetPassword, verify } from './register.ts';
import type { App, At, Screen, Screens, Shown } from './screens.ts';
import { security } from './security.ts';
import { narrowScreen, problemOf } from './view.ts';

declare const desktop: Desktop;

const WITHOUT_LOGIN = { logIn, secondStep, provider, register, resetPassword };
const SCREENS: Screens = { ...WITHOUT_LOGIN, verify, orgs, org, invitations, profile, security };

const client = createPageClient();
const app: App = { client, desktop, invitation: undefined, go, enter };
let shown: Shown = { at: 'logIn' };

/** The only way to another screen. A screen that cannot load says why, and the user can try again. */
async function go(next: Shown): Promise<undefined> {
  shown = next;
  const screen = await load(next);
  // Another screen may have been chosen since then.
  if (shown !== next) return;
  showBar(next.at === 'org' ? 'orgs' : next.at, !Object.hasOwn(WITHOUT_LOGIN, next.at));
  mount(next.at, screen, next.notice);
}

async function load(next: Shown): Promise<HTMLElement> {
  const screen = SCREENS[next.at] as Screen<At>;
  try {
    return await screen(app, next);
  } catch (error) {
    const problem = problemOf(error);
    isForAnotherScreen(problem);
    return narrowScreen('That did not work', explain(problem), 'Try again', () => go(next));
  }
}

/** What the refusal of any operation means for the whole program. */
function isForAnotherScreen({ code }: ShownProblem): boolean {
  if (code === 'email_not_verified') void go({ at: 'verify' });
  else if (code === 'not_logged_in' || code === 'invalid_refresh_token') endSession();
  else return false;
  return true;
}

function endSession(): void {
  void go({ at: 'logIn', notice: 'Your session has ended. Please log in again.' });
}

/** The first screen of a user who is logged in. */
function enter(): Promise<undefined> {
  return go({ at: app.invitation === undefined ? 'orgs' : 'invitations' });
}

async function openInvitation(): Promise<void> {
  app.invitation = (await desktop.takeInvitation()) ?? app.invitation;
  if (app.invitation === undefined) return;
  await (Object.hasOwn(WITHOUT_LOGIN, shown.at) ? go({ at: 'register' }) : enter());
}

async function logOut(): Promise<void> {
  const result = await client.logOut();
  const isOver = result.ok || result.sessionRevoked || result.queued;
  await go({
    at: 'logIn',
    notice: isOver ? '' : 'Accounts does not know of it: the session ends by itself.',
  });
}

async function start(): Promise<void> {
  app.invitation = await desktop.takeInvitation();
  if (await client.isLoggedIn()) await enter();
  else await go({ at: app.invitation === undefined ? 'logIn' : 'register' });
}

client.onSessionChange((change) => {
  if (change.event === 'logged_out' && change.reason === 'session_ended') endSession();
});
desktop.onInvitation(() => void openInvitation());
document.addEventListener('problem', (event) => {
  if (isForAnotherScreen((event as CustomEvent<ShownProblem>).detail)) event.preventDefault();
});
onBar(
  (at) => void go({ at } as Shown),
  () => void logOut(),
);
await start();
