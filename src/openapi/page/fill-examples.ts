interface Change {
  value: unknown;
  pathMethod: [path: string, method: string];
}

type Action = (change: Change) => unknown;

// A plugin of Swagger UI: forms begin with the refresh token and the code of the last answer, or with none, because
// every call fails with the examples. The page gets the text of this function, so it uses nothing around it.
export function fillExamples(): object {
  const refreshTokenOfExamples =
    '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e.1.3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';
  const codeOfExamples = '3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';
  const fill = (text: string): string => {
    const { known = {} } = globalThis as { known?: { refreshToken?: string; code?: string } };
    return text
      .replace(refreshTokenOfExamples, known.refreshToken ?? '')
      .replace(codeOfExamples, known.code ?? '');
  };
  const setRequestBodyValue =
    (original: Action): Action =>
    (change) =>
      original(typeof change.value === 'string' ? { ...change, value: fill(change.value) } : change);
  return { statePlugins: { oas3: { wrapActions: { setRequestBodyValue } } } };
}
