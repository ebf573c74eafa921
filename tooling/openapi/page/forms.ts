interface ParameterChange {
  value: unknown;
  pathMethod: [path: string, method: string];
}

type Action<Payload> = (payload: Payload) => unknown;

interface FormsSystem {
  specSelectors: { specJson(): { toJS(): { paths: Record<string, Record<string, unknown>> } } };
  specActions: {
    changeParam(
      operation: [path: string, method: string],
      name: string,
      path: string,
      value: string,
      isXml: boolean,
    ): void;
  };
}

interface SelectorSystem {
  oas3Selectors: { requestBodyValue(path: string, method: string): unknown };
  specSelectors: { url(): string };
}

interface Answer {
  url: string;
  ok: boolean;
  status: number;
  obj?: unknown;
}

interface FormsPage {
  location?: { origin: string };
  ui?: SwaggerUi;
  /** values of the last answers, in memory only */
  known?: Partial<Record<'refreshToken' | 'code' | 'challenge' | 'token' | 'email', string>> & {
    ids?: Record<string, string>;
  };
}

interface SwaggerUi {
  preauthorizeApiKey(scheme: string, token: string): void;
  authActions: { logout(schemes: string[]): void };
  oas3Selectors: { requestBodyValue(path: string, method: string): unknown };
  oas3Actions: { setRequestBodyValue(change: { value: string; pathMethod: [string, string] }): void };
  layoutActions: { show(path: string[], isShown: boolean): void };
  fillPaths(): void;
}

// A plugin of Swagger UI that replaces examples in forms by the ids, tokens and codes of the last answers. The page gets
// the text of this function, so that it uses nothing around it.
export function fillForms(system: FormsSystem): object {
  const page = globalThis as FormsPage;
  const refreshTokenOfExamples =
    '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e.1.3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';
  const challengeOfExamples =
    '019a8f3e-5c1d-7e2f-8a3b-4c5d6e7f8091.0.1795338000000.1795338300000.3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';
  const codeOfExamples = '3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';
  const userOfExamples = '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d';
  const emailedCodeOfExamples = '7K2M9-QX4TB';
  const optionalTotpCode = /,\s*"code": *"492 039"/;
  const totpCodeOfExamples = /492 ?039/;

  const fillBody = (text: string): string =>
    (text.includes('"challenge"') ? text : text.replace(optionalTotpCode, ''))
      .replace(emailedCodeOfExamples, '')
      .replace(totpCodeOfExamples, '')
      .replace(refreshTokenOfExamples, page.known?.refreshToken ?? '')
      .replace(challengeOfExamples, page.known?.challenge ?? '')
      .replace(codeOfExamples, page.known?.code ?? '')
      .replace(userOfExamples, page.known?.ids?.['userId'] ?? '');
  const fillPaths = (): void => {
    const ids = Object.entries(page.known?.ids ?? {});
    if (ids.length === 0) return;
    for (const [path, item] of Object.entries(system.specSelectors.specJson().toJS().paths)) {
      for (const [name, id] of ids.filter(([one]) => path.includes(`{${one}}`))) {
        for (const method of Object.keys(item))
          system.specActions.changeParam([path, method], name, 'path', id, false);
      }
    }
  };

  /** Only the user knows what belongs there: the page marks the form and sends nothing. Operators have fields instead. */
  const validateBeforeExecute =
    (original: (...parameters: unknown[]) => boolean, { oas3Selectors, specSelectors }: SelectorSystem) =>
    (state: unknown, pathMethod: [path: string, method: string]): boolean => {
      const body = oas3Selectors.requestBodyValue(...pathMethod);
      const isForm = specSelectors.url().endsWith('/operators.json');
      const isEmpty = typeof body === 'string' && /: *""/.test(body) && !isForm;
      return !isEmpty && original(state, pathMethod);
    };
  const setRequestBodyValue =
    (original: Action<ParameterChange>): Action<ParameterChange> =>
    (change) =>
      original(typeof change.value === 'string' ? { ...change, value: fillBody(change.value) } : change);
  const updateJsonSpec =
    (original: Action<object>): Action<object> =>
    (document) => {
      original(document);
      fillPaths();
    };
  return {
    rootInjects: { fillPaths },
    statePlugins: {
      oas3: { wrapActions: { setRequestBodyValue }, wrapSelectors: { validateBeforeExecute } },
      spec: { wrapActions: { updateJsonSpec } },
    },
  };
}

// Swagger UI's `responseInterceptor`. Tokens stay in memory only. The page gets the text of this function, so that it uses
// nothing around it.
export function rememberAnswer(answer: Answer): Answer {
  const page = globalThis as FormsPage;
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
      ui.layoutActions.show(['operations', 'Authentication', 'completeLogin'], true);
    }
    return answer;
  }

  const idOf = (subject: unknown, field = 'id'): unknown =>
    (subject as Record<string, unknown> | undefined)?.[field];
  /** If an operator has found several, they choose. */
  const onlyOne = (found: unknown, field = 'id'): unknown => {
    if (!pathname.startsWith('/api/operators/') || !Array.isArray(found)) return undefined;
    return found.length === 1 && body['nextCursor'] === undefined ? idOf(found[0], field) : '';
  };
  const account = pathname.startsWith('/api/operators/') ? body['user'] : undefined;

  const signIns = ['register', 'login', 'login/second-factor', 'refresh'].map((name) => `/api/auth/${name}`);
  if (signIns.includes(pathname)) {
    const { token, user } = body as { token?: string; user?: { email: string } };
    page.known = { ...page.known, challenge: '', token, email: user?.email ?? page.known?.email };
    if (typeof token === 'string') ui.preauthorizeApiKey('bearer', token);
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
