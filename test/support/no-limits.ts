/** Each limit that is on by default, off: several processes without Redis need that. */
export const NO_LIMITS = {
  RATE_LIMIT_REGISTER: 'off',
  RATE_LIMIT_LOGIN: 'off',
  RATE_LIMIT_LOOKUP: 'off',
  RATE_LIMIT_FORGOT: 'off',
  RATE_LIMIT_CODE: 'off',
  RATE_LIMIT_EXPORT: 'off',
};
