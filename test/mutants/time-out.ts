/** So long a test may take while mutants are tried, ms. Stryker takes mocha's own limit away, and its own costs a new process. */
const TEST_MS = 6000;

export const mochaHooks = {
  beforeEach(this: { readonly currentTest?: { timeout(ms: number): unknown } }): void {
    this.currentTest?.timeout(TEST_MS);
  },
};
