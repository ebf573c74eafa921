type Action = (payload: unknown) => unknown;

// A plugin of Swagger UI: whoever has logged in stays so when they choose another document. Its selector calls
// `restoreAuthorization` to forget the token, and nothing else calls it, since nothing is stored.
export function keepLogin(): object {
  const restoreAuthorization = (): Action => () => undefined;
  return { statePlugins: { auth: { wrapActions: { restoreAuthorization } } } };
}
