import type { Component, Immutable, System } from './answers.ts';

interface FilterSystem extends Omit<System, 'specSelectors'> {
  layoutSelectors: { currentFilter(): unknown };
  specSelectors: { taggedOperations(): { size: number } };
}

type AnyAction = (payload: unknown) => unknown;

// A plugin of Swagger UI that keeps the login when the user chooses another document: the selector calls
// `restoreAuthorization` to forget the token. Nothing else calls it, since nothing is stored.
function keepLogin(): object {
  const restoreAuthorization = (): AnyAction => () => undefined;
  return { statePlugins: { auth: { wrapActions: { restoreAuthorization } } } };
}

export const deletionsLast = (one: Immutable, other: Immutable): number =>
  Number(one.get('method') === 'delete') - Number(other.get('method') === 'delete');

interface SwaggerRequest {
  url: string;
  credentials?: 'omit';
}

// Swagger UI's `requestInterceptor`. Without the credentials of the browser, the browser leaves a 401 to the page and does
// not prompt for a password.
export function sendAlone(request: SwaggerRequest): SwaggerRequest {
  const page = globalThis as { location?: { origin: string } };
  if (!page.location) return request;
  const { origin, pathname } = new URL(request.url, page.location.origin);
  if (origin === page.location.origin && pathname.startsWith('/api/')) request.credentials = 'omit';
  return request;
}

interface ObservedPage {
  document?: { querySelectorAll(selector: string): Iterable<{ autocomplete: string; placeholder: string }> };
  MutationObserver?: new (changed: () => void) => { observe(node: unknown, options: object): void };
}

// A plugin of Swagger UI. Browsers store forms on disk for the next start, with the passwords in them, unless the field
// opts out.
function leaveFormsUnsaved(): object {
  const { document, MutationObserver } = globalThis as ObservedPage;
  if (!document || !MutationObserver) return {};
  const refuse = (): void => {
    for (const field of document.querySelectorAll(':is(input, textarea):not([autocomplete])'))
      field.autocomplete = 'off';
    for (const field of document.querySelectorAll('[placeholder="Filter by tag"]'))
      field.placeholder = 'Filter by summary, path or tag';
  };
  new MutationObserver(refuse).observe(document, { childList: true, subtree: true });
  return {};
}

// A plugin of Swagger UI, whose own filter compares only the names of tags, in their case. It also finds the words that people
// use for an operation.
function filterOperations(): object {
  const synonyms: Record<string, string> = {
    register: 'sign up, create an account',
    login: 'sign in',
    logOut: 'sign out',
    requestPasswordReset: 'forgot',
    updateOrg: 'rename',
    removeMember: 'kick, ban',
    deleteAccount: 'close, erase',
    enrollSecondFactor: 'mfa, totp, authenticator',
    revokeSessions: 'kick, log out everywhere, sign out',
    adminListUsers: 'search for a person, account',
    adminGetUser: 'failed logins, attempts, locked, account',
    adminCreateUser: 'add, invite, new account',
    adminDisableUser: 'lock, ban, block, suspend, deactivate, account',
    adminEnableUser: 'unlock, unban, reactivate, account',
    adminUnblockUser: 'unlock, locked, failed logins, too many attempts',
    adminRevokeUserSessions: 'kick, log out everywhere, sign out',
    adminIssueResetCode: 'password, forgot',
    adminVerifyUserEmail: 'confirm',
    adminRemoveUserSecondFactor: 'mfa, totp, two-factor, authenticator, lost phone',
    adminDeleteUser: 'erase, remove, gdpr, account',
    adminListAuditEvents: 'history, who did it, logs',
    adminListEmails: 'was it sent, outbox',
    adminRetryEmail: 'resend',
    adminAddOrgOwner: 'hand over, transfer, promote',
    adminSetOrgMemberRole: 'promote, demote',
    adminRemoveOrgMember: 'kick, ban',
    adminRestoreOrg: 'undelete, undo',
    adminDeleteOrg: 'erase, remove',
    adminLiftOrgSecondFactor: 'mfa, 2fa, totp, suspended',
    adminDisableService: 'lock, ban, block',
    adminEnableService: 'unlock, unblock',
  };
  const opsFilter = (tags: Immutable, typed: string): Immutable => {
    const has = (text: unknown): boolean => String(text).toLowerCase().includes(typed.trim().toLowerCase());
    const isWanted = (operation: Immutable): boolean =>
      has(operation.get('path')) ||
      has(operation.getIn(['operation', 'summary'])) ||
      has(synonyms[String(operation.getIn(['operation', 'operationId']))] ?? '');
    const reduce = (tag: unknown, name: string): unknown =>
      has(name) ? tag : (tag as Immutable).update('operations', (all) => all.filter(isWanted));
    return tags.map(reduce).filter((tag) => (tag.get('operations') as Immutable).size > 0);
  };
  return { fn: { opsFilter } };
}

// A plugin of Swagger UI that says what to do if the filter finds nothing.
function explainEmptyFilter(): object {
  const impersonation = /(?:log|sign) ?in as|log ?in (?:for|on behalf)|impersonat|switch user|become/i;
  const wrap =
    (Original: Component<object>, system: FilterSystem): Component<object> =>
    (properties) => {
      const typed = system.layoutSelectors.currentFilter();
      const isEmpty =
        typeof typed === 'string' && typed !== '' && system.specSelectors.taggedOperations().size === 0;
      if (!isEmpty) return system.React.createElement(Original, properties);
      const text = impersonation.test(typed)
        ? 'Nobody can log in as another user, not even an operator: the audit log names the person who acted.'
        : `No operation here matches “${typed.trim()}”. Try another word, such as a noun of the API, or choose another definition above.`;
      return system.React.createElement('p', { className: 'nothing-found', role: 'status' }, text);
    };
  return { wrapComponents: { operations: wrap } };
}

// A plugin of Swagger UI that shows who has logged in on the page, and until when the access token is accepted.
function showLogin(): object {
  const wrap =
    (Original: Component<object>, system: System): Component<object> =>
    (properties) => {
      const { React, authSelectors } = system;
      const button = React.createElement(Original, properties);
      const { token = '', email } =
        (globalThis as { known?: { token?: string; email?: string } }).known ?? {};
      const [, claims] = token.split('.');
      if (!claims || authSelectors.authorized().getIn(['bearer', 'value']) !== token) return button;
      const text = atob(claims.replaceAll('-', '+').replaceAll('_', '/'));
      const { exp, auth_time } = JSON.parse(text) as { exp: number; auth_time: number };
      const forOperators = system.specSelectors.url().endsWith('/operators.json');
      const end = forOperators ? Math.min(exp, auth_time + system.getConfigs().operatorsLoginAge) : exp;
      const format = { weekday: 'short', hour: '2-digit', minute: '2-digit' } as const;
      const line = `Logged in as ${email} until ${new Date(end * 1000).toLocaleString([], format)}`;
      const span = React.createElement('span', { className: 'login' }, line);
      return React.createElement('div', { className: 'auth-wrapper' }, span, button);
    };
  return { wrapComponents: { authorizeBtn: wrap } };
}

export const BEHAVIOUR = [filterOperations, explainEmptyFilter, keepLogin, showLogin, leaveFormsUnsaved];
