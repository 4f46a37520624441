"""The vocabulary of sample texts: invented companies, people, projects, sentences."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """The parts of simple sentences, and the pattern that orders them."""

    subjects: tuple[str, ...]
    verbs: tuple[str, ...]
    objects: tuple[str, ...]
    adjuncts: tuple[str, ...]
    pattern: str


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))


ENGLISH = Language(
    _parts(
        "The steering group|Our vendor|The finance team|Legal|Customer support|The pilot region|"
        "The data platform|Each country lead|The security review|Procurement|The new dashboard|"
        "Most respondents|The migration squad|An external auditor|The product owner|Facilities|"
        "Nobody in operations|The weekly build|The forecast model|Human resources|The warehouse|"
        "Every second branch|The partner portal|The architecture board|Marketing|The field crew|"
        "A recent survey|The call centre|The maintenance window|This draft|The annex|The board"
    ),
    _parts(
        "approved|still questions|has rewritten|will replace|compared|did not receive|expects|"
        "postponed|now owns|documents|escalated|signed off on|depends on|cannot reproduce|tested|"
        "summarises|needs|translated|merged|lost track of|budgeted for|reopened|shipped|measures|"
        "asked twice about|recommends|underestimated|handed over|archived|explains|blocks|funds"
    ),
    _parts(
        "the revised rollout plan|a shorter retention period|the open invoices|three risk items|"
        "the onboarding checklist|last quarter's figures|an alternative supplier|the access model|"
        "the interface contract|a second round of interviews|the licence renewal|travel costs|"
        "the training material|the regional price list|our incident history|a cleaner data feed|"
        "the parental leave policy|the heating system|both prototypes|the export restrictions|"
        "most of the backlog|the name change|the water damage claim|a trial with forty users|"
        "the search index|the battery recycling quota|its own release notes|the booking tool|"
        "the spring campaign|a fallback for offline use|the energy audit|the visitor registration"
    ),
    _parts(
        "before the end of May|without further notice|as agreed in Lisbon|for the northern sites|"
        "since the last outage|under the framework agreement|at no extra cost|by Thursday noon|"
        "despite the hiring freeze|in two of five markets|for the second time|after long debate|"
        "while stock lasts|ahead of the summer shutdown|once the figures are final|until revoked|"
        "together with the works council|over a slow connection|on the customer's request|quietly|"
        "with minor reservations|across all three shifts|in the shared folder|during the dry run|"
        "outside office hours|within the agreed margin|against our advice|for legal reasons"
    ),
    "{0} {1} {2} {3}. ",
)

GERMAN = Language(
    _parts(
        "Der Lenkungskreis|Die Buchhaltung|Unser Lieferant|Der Betriebsrat|Die Außenstelle Köln|"
        "Das Prüfteam|Die Geschäftsführung|Der Vertrieb in Österreich|Die Münchner Niederlassung"
    ),
    _parts("prüft|genehmigt|verschiebt|übernimmt|benötigt|dokumentiert|bemängelt|veröffentlicht"),
    _parts(
        "den überarbeiteten Zeitplan|die offenen Rechnungen|das Sicherheitskonzept|die Reisekosten|"
        "den Rahmenvertrag|die Schulungsunterlagen|das Rückgabeverfahren|die Größentabelle"
    ),
    _parts(
        "bis Ende Mai|trotz der Verzögerung|gemäß Absprache|für alle Standorte|vor der Übergabe|"
        "ohne weitere Rückfragen|während der Werksferien|zum zweiten Mal"
    ),
    "{0} {1} {2} {3}. ",
)

FRENCH = Language(
    _parts(
        "Le comité de pilotage|Le service juridique|Notre fournisseur|La direction générale|"
        "Le bureau de Genève|Une étude récente|Le pôle qualité|Chaque équipe régionale"
    ),
    _parts("a validé|remet en cause|prévoit|réévalue|a reçu|présente|complète|détaille"),
    _parts(
        "le calendrier révisé|les factures en suspens|la procédure d'accueil|le relevé des écarts|"
        "la politique de télétravail|les données agrégées|le contrat-cadre|la note de synthèse"
    ),
    _parts(
        "avant la fin de mai|sans délai|comme prévu à Orléans|pour tous les sites|à titre d'essai|"
        "malgré la grève|dès la clôture|après un long débat"
    ),
    "{0} {1} {2} {3}. ",
)

JAPANESE = Language(
    _parts("営業部は|経理チームは|大阪支社は|品質管理課は|開発グループは|取引先は|監査役は"),
    _parts("確認した。|承認する予定である。|見直している。|公開した。|延期した。|引き継いだ。"),
    _parts("改訂版の計画書を|未払いの請求書を|研修資料を|セキュリティ方針を|価格表を|契約書を"),
    _parts("来週までに|全拠点で|会議の前に|ﾃｽﾄ環境で|第2四半期に|合意どおり"),
    "{0}{3}{2}{1}",
)

ADJECTIVES = _parts(
    "Quarterly|Regional|Revised|Draft|Annual|Internal|Final|Global|Weekly|Interim|Nordic|Combined|"
    "Updated|Preliminary|Confidential|Joint|Technical|Mid-year|Approved|Practical"
)
TOPICS = _parts(
    "Heat Pump Rollout|Branch Network Review|Invoice Automation|Parental Leave|Fleet Charging|"
    "Supplier Onboarding|Data Retention|Customer Churn|Warehouse Robotics|Travel Policy|"
    "Identity Migration|Pension Scheme|Rooftop Solar|Returns Handling|Price Elasticity|"
    "Contact Centre Staffing|Water Metering|Accessibility Audit|Carbon Accounting|Search Quality|"
    "Cold Chain Monitoring|Loyalty Programme|Payroll Cutover|Network Segmentation|Store Opening|"
    "Incident Response|Battery Recycling|Translation Workflow|Apprenticeships|Noise Abatement|"
    "Lead Scoring|Laboratory Safety|Queue Management|Spare Parts Catalogue|Brand Refresh|"
    "Model Governance|Rail Freight|Meeting Culture|Clinical Trials|Visitor Parking"
)
KINDS = _parts(
    "Plan|Overview|Minutes|Figures|Guide|Checklist|Proposal|Report|Roadmap|Questions and Answers|"
    "Budget|Lessons Learned|Specification|Summary|Kick-off|Status|Handbook|Risk Register|Survey"
)
ASKS = _parts(
    "who owns|latest figures for|what changed in|decisions about|summary of|open risks of|"
    "contact person for|schedule of|budget for|what did we agree on|documents about|next steps for"
)
FIRST_NAMES = _parts(
    "Amara|Bastian|Chiara|Dilan|Elif|Farid|Greta|Hiroshi|Ingrid|Jonas|Katarzyna|Luis|Maren|Noor|"
    "Oskar|Priya|Quentin|Rosa|Søren|Tomasz|Ulrike|Vikram|Wanda|Xiomara|Yuki|Zoë|Anneliese|Björn"
)
LAST_NAMES = _parts(
    "Abara|Brandt|Castellano|Dvorak|Ekström|Fontaine|Grünwald|Haddad|Ivanova|Jansen|Kowalczyk|"
    "Lindqvist|Moreau|Nakamura|Okafor|Petrov|Quist|Rahman|Silva|Tanaka|Ueda|Vargas|Weiß|Yilmaz"
)
MAIL_NAMES = {"ø": "o", "ë": "e", "ö": "oe", "ü": "ue", "ß": "ss"}
DEPARTMENTS = _parts(
    "Finance|Operations|Legal|Research|Field Services|Human Resources|Logistics|Marketing|IT"
)
OFFICES = _parts("Lisbon 2/114|Köln 4/020|Osaka HQ 11F|Leeds 1/008|Genève 3/301|Denver 7/700")
TENANTS = ("haldenworks", "norrvik", "pelagia-group", "tessera-labs")
SITES = _parts("operations|people-hub|engineering|finance-emea|legal|projects|strategy|helpdesk")
WEB_HOSTS = _parts(
    "www.gridjournal.example|energyfacts.example|www.buerowelt.example|docs.openledger.example|"
    "www.policywatch.example|en.encyclomedia.example|blog.retailnotes.example|forum.fixit.example|"
    "www.hrkompass.example|news.portside.example|www.labsafety.example|kurashi.example"
)
WEB_SECTIONS = _parts("articles|guide|news/2025|wiki|blog|questions|reports|topics/advice")
PLUGINS = (
    ("tickets", "connector", "Ticket Desk"),
    ("crm", "connector", "Client Ledger"),
    ("wiki", "message-extension", "Team Wiki"),
    ("contracts", "connector", "Contract Vault"),
)
