interface Answer {
  url: string;
  ok: boolean;
  status: number;
  obj?: unknown;
}

/** The parts of Swagger UI's system in use here. */
interface SwaggerUi {
  preauthorizeApiKey(scheme: string, token: string): void;
  authActions: { logout(schemes: string[]): void };
  oas3Selectors: { requestBodyValue(path: string, method: string): unknown };
  oas3Actions: { setRequestBodyValue(change: { value: string; pathMethod: [string, string] }): void };
  layoutActions: { show(place: string[], isShown: boolean): void };
  /** injected by fillForms */
  fillPaths(): void;
}

interface Page {
  location?: { origin: string };
  /** set once the page is ready */
  ui?: SwaggerUi;
  /** read by fillForms */
  known?: { refreshToken?: string; code?: string; challenge?: string; ids?: Record<string, string> };
}

// Serves as Swagger UI's `responseInterceptor`: after a login the page sends its token, and forms begin with the
// values of answers, all in memory only. The page gets the text of this function, so it uses nothing around it.
export function rememberAnswer(answer: Answer): Answer {
  const page = globalThis as Page;
  const { location, ui } = page;
  if (!location || !ui) return answer;
  const { origin, pathname } = new URL(answer.url, location.origin);
  if (origin !== location.origin || !pathname.startsWith('/api/')) return answer;
  const body = (answer.obj ?? {}) as Record<string, unknown>;
  const fillBody = (path: string, field: 'refreshToken' | 'code' | 'challenge', value: unknown): void => {
    if (typeof value !== 'string') return;
    page.known = { ...page.known, [field]: value };
    const text = ui.oas3Selectors.requestBodyValue(path, 'post');
    if (typeof text !== 'string' || !text.includes(`"${field}"`)) return;
    const filled = text.replace(
      new RegExp(`("${field}": *)"[^"]*"`),
      (_, name: string) => `${name}"${value}"`,
    );
    ui.oas3Actions.setRequestBodyValue({ value: filled, pathMethod: [path, 'post'] });
  };
  if (!answer.ok) {
    if (answer.status === 401 && body['code'] === 'invalid_token') ui.authActions.logout(['bearer']);
    if (pathname === '/api/auth/login' && body['code'] === 'second_factor_required') {
      fillBody('/api/auth/login/second-factor', 'challenge', body['challenge']);
      ui.layoutActions.show(['operations', 'Auth', 'logInWithSecondFactor'], true);
    }
    return answer;
  }

  const idOf = (subject: unknown, field = 'id'): unknown =>
    (subject as Record<string, unknown> | undefined)?.[field];
  /** Fills in nothing where an operator has found several, nor the one before: they choose. */
  const onlyOne = (found: unknown, field = 'id'): unknown => {
    if (!pathname.startsWith('/api/operators/') || !Array.isArray(found)) return undefined;
    return found.length === 1 && body['nextCursor'] === undefined ? idOf(found[0], field) : '';
  };
  const account = pathname.startsWith('/api/operators/') ? body['user'] : undefined;

  const signIns = ['register', 'login', 'login/second-factor', 'refresh'].map((name) => `/api/auth/${name}`);
  if (signIns.includes(pathname)) {
    if (typeof body['token'] === 'string') ui.preauthorizeApiKey('bearer', body['token']);
    for (const path of ['/api/auth/refresh', '/api/auth/logout'])
      fillBody(path, 'refreshToken', body['refreshToken']);
  }
  if (pathname === '/api/auth/code') fillBody('/api/auth/code/exchange', 'code', body['code']);
  if (pathname === '/api/auth/logout') {
    ui.authActions.logout(['bearer']);
    page.known = {};
  }
  const ids = {
    orgId: idOf(body['org']) ?? onlyOne(body['orgs']),
    userId: idOf(body['member'], 'userId') ?? idOf(account) ?? onlyOne(body['users']),
    invitationId: idOf(body['invitation']),
    mailId: onlyOne(body['mails']),
    name: onlyOne(body['services'], 'name'),
  };
  const found = Object.entries(ids).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  if (found.length > 0) {
    page.known = { ...page.known, ids: { ...page.known?.ids, ...Object.fromEntries(found) } };
    ui.fillPaths();
  }
  return answer;
}
