/* global SwaggerUIBundle */
// Asks this server alone, and nothing until it is told to.
SwaggerUIBundle({
  dom_id: '#page',
  url: 'openapi.json',
  validatorUrl: null,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
})
