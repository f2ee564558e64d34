/** What a browser calls itself in its User-Agent, the first that fits: others name several. */
const BROWSERS = [
  [/\bEdgA?(iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/\S+ (Mobile\/\S+ )?Safari\//, 'Safari'],
] as const;
const SYSTEMS = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
] as const;

/**
 * By what a person recognises a browser: `Firefox, Android`. Of words that stand here alone, whatever the caller sent.
 * @param userAgent the header @returns null: none of those known here
 */
export function deviceName(userAgent: string | undefined): string | null {
  if (userAgent === undefined) return null;
  const [browser, system] = [BROWSERS, SYSTEMS].map((known) => known.find(([is]) => is.test(userAgent))?.[1]);
  return [browser, system].filter((word) => word !== undefined).join(', ') || null;
}
