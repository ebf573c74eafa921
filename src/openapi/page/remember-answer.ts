interface Answer {
  url: string;
  ok: boolean;
  obj?: unknown;
}

/** The parts of Swagger UI's system in use here. */
interface SwaggerUi {
  preauthorizeApiKey(scheme: string, token: string): void;
  authActions: { logout(schemes: string[]): void };
  specSelectors: { specJson(): { toJS(): { paths: Record<string, Record<string, unknown>> } } };
  specActions: {
    changeParam(
      operation: [string, string],
      name: string,
      place: string,
      value: string,
      isXml: boolean,
    ): void;
  };
  oas3Selectors: { requestBodyValue(path: string, method: string): unknown };
  oas3Actions: { setRequestBodyValue(change: { value: string; pathMethod: [string, string] }): void };
}

interface Page {
  location?: { origin: string };
  /** set once the page is ready */
  ui?: SwaggerUi;
  /** read by fillExamples */
  known?: { refreshToken?: string; code?: string };
}

// Serves as Swagger UI's `responseInterceptor`: after a login the page sends its token, and forms begin with the
// values of answers, all in memory only. The page gets the text of this function, so it uses nothing around it.
export function rememberAnswer(answer: Answer): Answer {
  const page = globalThis as Page;
  const { location, ui } = page;
  if (!location || !ui || !answer.ok) return answer;
  const { origin, pathname } = new URL(answer.url, location.origin);
  if (origin !== location.origin || !pathname.startsWith('/api/')) return answer;
  const { token, refreshToken, code, org, member, invitation } = (answer.obj ?? {}) as Record<
    string,
    unknown
  >;

  const fillBody = (path: string, field: 'refreshToken' | 'code', value: string): void => {
    page.known = { ...page.known, [field]: value };
    const text = ui.oas3Selectors.requestBodyValue(path, 'post');
    if (typeof text !== 'string' || !text.includes(`"${field}"`)) return;
    const filled = text.replace(
      new RegExp(`("${field}": *)"[^"]*"`),
      (_, name: string) => `${name}"${value}"`,
    );
    ui.oas3Actions.setRequestBodyValue({ value: filled, pathMethod: [path, 'post'] });
  };
  const fillPaths = (name: string, id: unknown): void => {
    if (typeof id !== 'string') return;
    for (const [path, item] of Object.entries(ui.specSelectors.specJson().toJS().paths)) {
      if (!path.includes(`{${name}}`)) continue;
      for (const method of Object.keys(item))
        ui.specActions.changeParam([path, method], name, 'path', id, false);
    }
  };

  if (['/api/auth/register', '/api/auth/login', '/api/auth/refresh'].includes(pathname)) {
    if (typeof token === 'string') ui.preauthorizeApiKey('bearer', token);
    if (typeof refreshToken === 'string') {
      for (const path of ['/api/auth/refresh', '/api/auth/logout'])
        fillBody(path, 'refreshToken', refreshToken);
    }
  }
  if (pathname === '/api/auth/code' && typeof code === 'string')
    fillBody('/api/auth/code/exchange', 'code', code);
  if (pathname === '/api/auth/logout') {
    ui.authActions.logout(['bearer']);
    page.known = {};
  }
  fillPaths('orgId', (org as { id?: unknown } | undefined)?.id);
  fillPaths('userId', (member as { userId?: unknown } | undefined)?.userId);
  fillPaths('invitationId', (invitation as { id?: unknown } | undefined)?.id);
  return answer;
}
