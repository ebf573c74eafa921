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
