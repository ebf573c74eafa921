interface Answer {
  code: string;
  response: {
    get(key: 'description'): string;
    getIn(path: string[]): { keySeq(): { toArray(): string[] } } | undefined;
  };
}

type Component = (properties: Answer) => unknown;

interface System {
  React: {
    Fragment: unknown;
    createElement(type: unknown, properties?: object | null, ...children: unknown[]): unknown;
    useState<T>(initial: T): [value: T, set: (value: T) => void];
  };
}

// A plugin of Swagger UI that folds each documented answer to one line. The page gets the text of each function of this
// file, so that it uses nothing around it.
export function foldAnswers(): object {
  const wrap =
    (Original: Component, { React }: System): Component =>
    (properties) => {
      const [isOpen, setOpen] = React.useState(false);
      const { code, response } = properties;
      const codes = response.getIn(['content', 'application/problem+json', 'examples'])?.keySeq().toArray();
      const names = codes?.map((name) => React.createElement('code', { key: name }, name));
      const button = React.createElement(
        'button',
        { type: 'button', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
        React.createElement('b', null, code),
        names ?? React.createElement('span', null, response.get('description')),
      );
      const line = React.createElement(
        'tr',
        { className: 'answer-line', 'data-code': code },
        React.createElement('td', { colSpan: 3 }, button),
      );
      const answer = isOpen ? React.createElement(Original, properties) : null;
      return React.createElement(React.Fragment, null, line, answer);
    };
  return { wrapComponents: { response: wrap } };
}

type Action = (payload: unknown) => unknown;

// A plugin of Swagger UI that keeps the login when the user chooses another document: the selector calls
// `restoreAuthorization` to forget the token. Nothing else calls it, since nothing is stored.
export function keepLogin(): object {
  const restoreAuthorization = (): Action => () => undefined;
  return { statePlugins: { auth: { wrapActions: { restoreAuthorization } } } };
}

interface Operation {
  get(key: 'method'): string;
}

export const deletionsLast = (one: Operation, other: Operation): number =>
  Number(one.get('method') === 'delete') - Number(other.get('method') === 'delete');

interface PageRequest {
  url: string;
  credentials?: 'omit';
}

// Swagger UI's `requestInterceptor`. Without the credentials of the browser, the browser leaves a 401 to the page and does
// not prompt for a password.
export function sendAlone(request: PageRequest): PageRequest {
  const page = globalThis as { location?: { origin: string } };
  if (!page.location) return request;
  const { origin, pathname } = new URL(request.url, page.location.origin);
  if (origin === page.location.origin && pathname.startsWith('/api/')) request.credentials = 'omit';
  return request;
}

interface Page {
  document?: { querySelectorAll(selector: string): Iterable<{ autocomplete: string }> };
  MutationObserver?: new (changed: () => void) => { observe(node: unknown, options: object): void };
}

// A plugin of Swagger UI. Browsers store forms on disk for the next start, with the passwords in them, unless the field
// opts out.
export function leaveFormsUnsaved(): object {
  const { document, MutationObserver } = globalThis as Page;
  if (!document || !MutationObserver) return {};
  const refuse = (): void => {
    for (const field of document.querySelectorAll(':is(input, textarea):not([autocomplete])'))
      field.autocomplete = 'off';
  };
  new MutationObserver(refuse).observe(document, { childList: true, subtree: true });
  return {};
}
