import { describeKills } from "../harness/kill-chain";

describeKills("issuer", "cli");
describeKills("issuer", "provider");
describeKills("issuer", "interrupted");
