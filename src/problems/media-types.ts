export const FORM = 'application/x-www-form-urlencoded';

/** detail of `unsupported_media_type` where a route takes a form */
export const FORM_NEEDED = `Send the body as ${FORM}.`;
