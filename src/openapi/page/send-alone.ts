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
