// The events of node:test as one document, in the form that jest and vitest share.
export default async function* report(source) {
  const files = new Map();
  const open = new Map();
  const of = (name) => {
    if (!files.has(name)) files.set(name, { name, status: "passed", message: "", assertionResults: [] });
    return files.get(name);
  };
  for await (const { type, data } of source) {
    const file = data?.file;
    if (!file) continue;
    const line = open.get(file) ?? [];
    open.set(file, line);
    if (type === "test:start") {
      line.length = data.nesting;
      line.push(data.name);
    } else if (type === "test:pass" || type === "test:fail") {
      take(of(file), line, type, data);
      line.length = data.nesting;
    }
  }
  yield JSON.stringify(summed([...files.values()]));
}

function take(file, line, type, data) {
  const failed = type === "test:fail" && data.todo === undefined;
  const message = failed ? words(data.details.error) : "";
  const whole = data.nesting === 0 && (data.name === file.name || file.name.endsWith(`/${data.name}`));
  if (whole || data.details?.type === "suite") {
    if (!failed || data.details.error?.failureType === "subtestsFailed") return;
    file.status = "failed";
    file.message = message;
    return;
  }
  const aside = data.skip !== undefined || data.todo !== undefined;
  file.assertionResults.push({
    ancestorTitles: line.slice(0, data.nesting),
    title: data.name,
    status: aside ? "skipped" : failed ? "failed" : "passed",
    failureMessages: failed ? [message] : [],
  });
  if (failed) file.status = "failed";
}

function words(error) {
  const cause = error?.cause ?? error;
  if (typeof cause !== "object" || cause === null) return String(cause);
  const text = String(cause.stack ?? cause.message ?? cause);
  if (cause.code !== "ERR_ASSERTION" || !("expected" in cause)) return text;
  return `${text}\nExpected: ${JSON.stringify(cause.expected)}\nReceived: ${JSON.stringify(cause.actual)}`;
}

function summed(testResults) {
  const all = testResults.flatMap((f) => f.assertionResults);
  return {
    numTotalTests: all.length,
    numFailedTests: all.filter((t) => t.status === "failed").length,
    success: testResults.every((f) => f.status !== "failed"),
    testResults,
  };
}
