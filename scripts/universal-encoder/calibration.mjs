// Bars and quantiles of the multilingual model, as `npm run bench -- languages` measures them on
// bench/data/languages/development.jsonl.
export const MULTILINGUAL_CALIBRATION = {
  calibration: null,
  cosineScale: 1,
  languagePairs: null,
}
