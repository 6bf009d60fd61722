import type { RetryPolicy, Scheme } from "../writer/config";
import type { Alias } from "./certificates";
import type { Admission } from "./etcd-writer";
import type { Scenario } from "./scenario";

/** A change of a running cluster, made while clients are at work, and what is to come of it. */
export interface Change {
  /** Short, for folders and the report: `add`. */
  name: string;
  /** How clients get in before and after. */
  from: Scheme;
  to: Scheme;
  edit: (scenario: Scenario) => Promise<void>;
  retry?: Partial<RetryPolicy>;
  /** Where the preview with its differences is kept, below docs/, when UPDATE_DOCS is set. */
  document?: string;
  /** How often every member restarts. Default: twice, and a single member once. */
  passes?: number;
  /** Certificates that are issued anew, the others being left alone. Default: not looked at. */
  renewed?: Alias[];
  /** Who gets in afterwards, where that is not told by the scheme alone. */
  admits?: Partial<Record<keyof Omit<Admission, "member">, boolean>>;
  /** What its preview must print. */
  says?: (string | RegExp)[];
  /** What its preview with differences must print. */
  differs?: string[];
  /** CA certificates, PEM, that the trust bundle holds afterwards, and no others. */
  trusts?: (scenario: Scenario) => Promise<string>;
  /** Secrets of certificates that are called otherwise than by default. */
  secretNames?: Partial<Record<Alias, string>>;
}

/** What stays the same where TLS is on before and after. */
export const OVER_TLS = { from: "https", to: "https" } as const;
