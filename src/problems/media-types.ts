export const FORM = 'application/x-www-form-urlencoded';

export const FORM_NEEDED = `Send the body as ${FORM}.`;
