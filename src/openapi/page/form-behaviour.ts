type Action = (payload: unknown) => unknown;

// A plugin of Swagger UI: a user who has logged in stays so when they choose another document. Its selector calls
// `restoreAuthorization` to forget the token, and nothing else calls it, since nothing is stored.
export function keepLogin(): object {
  const restoreAuthorization = (): Action => () => undefined;
  return { statePlugins: { auth: { wrapActions: { restoreAuthorization } } } };
}

/** Swagger UI's form of an operation, which is an immutable Map */
interface Operation {
  get(key: 'method'): string;
}

/** Serves as Swagger UI's `operationsSorter`. The page gets the text of this function. */
export const deletionsLast = (one: Operation, other: Operation): number =>
  Number(one.get('method') === 'delete') - Number(other.get('method') === 'delete');

interface PageRequest {
  url: string;
  credentials?: 'omit';
}

// Serves as Swagger UI's `requestInterceptor`: the API is sent what the form has and nothing that the browser keeps, so that the
// browser leaves a 401 to the page and asks for no password. The page gets the text of this function.
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

// A plugin of Swagger UI: browsers write what stands in a form to the disk, for the next start, passwords in the bodies
// of requests too, unless the field refuses. The page gets the text of this function, so it uses nothing around it.
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
