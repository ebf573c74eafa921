import type { CallerKind } from '../access/route-access.js';

const LOG_IN = `Register or log in on this page, and later requests use the new token until you leave the page; enter any other token
under **Authorize**.`;

const FAILURES = `Every failure is a problem details object (RFC 9457) with a stable \`code\`, including failures
outside the operations below: unknown paths (\`not_found\`), other methods (\`method_not_allowed\`), URLs of more than
2,048 characters (\`uri_too_long\`), and requests that are malformed or incomplete.`;

export const DESCRIPTION = `Accounts, organizations and members.

${LOG_IN} ${FAILURES}`;

export const CALLER_DESCRIPTIONS: Record<CallerKind, string> = {
  clients: `The API for clients, which act for a user.

${LOG_IN} ${FAILURES}`,
  services: `The API for internal services, which have credentials of their own, and act for a user whose one-time code
they exchanged.

Enter name and secret of the service under **Authorize**. ${FAILURES}`,
  operators: `The API for operators: users to whom \`accounts operators grant\` gave more.

Log in on this page with your second factor, and later requests use the new token until you leave the page. Every
change takes a reason, which only operators can read, and the record names who made it. ${FAILURES}`,
};
