const FAILURE = ".swagger-ui .response:not([data-code^='2'])";

/** A failure takes two lines, and its example opens on hover or focus, so that an operation fits a screen. */
export const PAGE_STYLE = `
${FAILURE} td { position: relative; padding-top: 6px }
${FAILURE} .response-controls { position: absolute; top: 0; right: 0; padding: 0 }
${FAILURE} .response-control-media-type,
${FAILURE} .response-control-examples__title,
${FAILURE} .response-control-examples:has(option:only-child),
${FAILURE} .model-example:not(:hover, :focus-within) [role='tabpanel'],
${FAILURE}:not(:focus-within) .model-example:not(:hover) ~ .headers-wrapper,
.swagger-ui .response-col_links { display: none }
${FAILURE} .examples-select-element { max-width: 16em }
${FAILURE} .response-col_description__inner { padding-right: 17em }
${FAILURE} .model-example { margin: 0 }
${FAILURE} .tab { margin: 0; padding: 0 }
.swagger-ui textarea.body-param__text { min-height: 8em }
`;
